package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// testTimeout is how long the test of a channel may take.
const testTimeout = 30 * time.Second

// TestChannel asks the remote system whether the settings work. It also sends a
// test message to the recipient, if there is one.
func (s *Service) TestChannel(ctx context.Context, c fermata.Caller, name, recipient string) (fermata.ChannelTest, error) {
	out := fermata.ChannelTest{Problems: []fermata.ChannelProblem{}}
	if err := c.CheckPermission(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
		return out, err
	}
	r := s.db.Reader(ctx, c.WorkspaceID)
	row, err := r.ChannelByName(name)
	if err != nil {
		return out, err
	}
	k, channel, err := s.makeChannel(c.WorkspaceID, row)
	if err == nil {
		checkCtx, cancel := context.WithTimeout(ctx, testTimeout)
		defer cancel()
		err = channel.Check(checkCtx)
	}
	if err != nil {
		out.Problems = append(out.Problems, problemOf(err))
	}
	if recordErr := s.recordTest(ctx, row, err); recordErr != nil {
		return out, recordErr
	}
	if !row.Enabled {
		out.Problems = append(out.Problems, fermata.ChannelProblem{
			Message: "the channel is disabled: nothing is sent over it", Hint: "fermata channel enable " + row.Name,
		})
	}
	if recipient != "" && len(out.Problems) == 0 {
		if out.DeliveryID, err = s.sendTest(ctx, c, row, k, recipient); err != nil {
			out.Problems = append(out.Problems, problemOf(err))
		}
	}
	out.OK = len(out.Problems) == 0
	return out, nil
}

// recordTest records the result of a test in the channel's row. So the list of
// channels and the checks of the server show a new fault.
func (s *Service) recordTest(ctx context.Context, tested *fermata.Channel, problem error) error {
	if problem == nil && tested.LastError == "" {
		return nil
	}
	return s.db.Write(ctx, tested.WorkspaceID, func(tx *store.Tx) error {
		row, err := tx.Channel(tested.ID)
		switch {
		case fermata.CodeOf(err) == fermata.CodeNotFound:
			return nil
		case err != nil:
			return err
		case problem != nil:
			row.NoteFailure(tx.Now(), errorText(problem))
		default:
			row.NoteWorking()
		}
		tx.SaveChannel(row)
		return nil
	})
}

func problemOf(err error) fermata.ChannelProblem {
	p := fermata.ChannelProblem{Message: err.Error()}
	if e, ok := errors.AsType[*fermata.Error](err); ok {
		p.Message, p.Hint = e.Message, e.Hint
		for _, each := range e.Problems {
			if len(e.Problems) > 1 {
				p.Message += "; " + each.Field + " " + each.Message
			}
		}
	}
	return p
}

// sendTest plans a test message to each address of the member, and returns the
// id of the last delivery.
func (s *Service) sendTest(ctx context.Context, c fermata.Caller, row *fermata.Channel, k Kind, recipient string) (string, error) {
	r := s.db.Reader(ctx, c.WorkspaceID)
	m, err := r.MemberByHandle(recipient)
	if err != nil {
		return "", err
	}
	p, err := readPeople(r)
	if err != nil {
		return "", err
	}
	addresses := p.addresses(k, []*fermata.Member{m})
	if len(addresses) == 0 {
		return "", noAddressError(m, k)
	}
	id := ""
	err = s.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		now := tx.Now()
		for _, a := range addresses {
			id = fermata.NewID(fermata.PrefixDelivery, now)
			tx.PlanDelivery(&fermata.Delivery{
				ID: id, ChannelID: row.ID, Kind: row.Kind, MemberID: a.member, Purpose: string(notice.Test), State: fermata.DeliveryWaiting,
				NextAt: &now, CreatedAt: now,
				DeliveryInternals: fermata.DeliveryInternals{
					UniqueKey: "test/" + id, DeviceID: a.device, Condition: fermata.WhenAlways,
					Title: "Fermata reaches you here", Body: "This is a test of the channel " + row.Name + ", sent by " + c.Name + ". There is nothing to answer.",
				},
			})
		}
		return nil
	})
	s.workspace(c.WorkspaceID).wakeSenders()
	return id, err
}

func noAddressError(m *fermata.Member, k Kind) error {
	e := fermata.Errorf(fermata.CodeInvalidRequest, "%s cannot be reached over %s", m.Handle, k.Name)
	switch k.Name {
	case fermata.KindPush:
		return e.WithHint("the member switches notifications on in the settings of the browser that is to get them")
	case fermata.KindEmail:
		return e.WithHint("give the member an address: fermata member set %s --email …", m.Handle)
	case fermata.KindCallback:
		return e.WithHint("it tells those who asked, at the address that a question names: fermata ask --callback-url …")
	default:
		return e.WithHint("say who the member is there: fermata member identity %s %s ID", m.Handle, k.Name)
	}
}
