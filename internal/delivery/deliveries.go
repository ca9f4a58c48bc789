package delivery

import (
	"context"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// Filter narrows a list of deliveries.
type Filter struct {
	QuestionID, Channel, State, Cursor string
	Limit                              int
	// Wait is how long to wait until the deliveries for all events so far are
	// planned.
	Wait time.Duration
}

const (
	defaultPageSize = 50
	maxPageSize     = 500
)

// Deliveries lists deliveries, the newest first, and returns the cursor of the
// next page. Operators see all deliveries. Other callers see those for one
// question, or those to themselves.
func (s *Service) Deliveries(ctx context.Context, c fermata.Caller, f Filter) ([]*fermata.Delivery, string, error) {
	if err := c.CheckPermission(fermata.ToReadDeliveries, fermata.UnloadedResource); err != nil {
		return nil, "", err
	}
	if f.Limit <= 0 {
		f.Limit = defaultPageSize
	}
	limit := min(f.Limit, maxPageSize)
	r := s.db.ReaderFor(ctx, c).ForLongReads()
	query := store.DeliveryFilter{State: f.State, Before: f.Cursor, Limit: limit + 1}
	if f.Cursor != "" && !fermata.IsID(fermata.PrefixDelivery, f.Cursor) {
		return nil, "", fermata.Invalid(fermata.Problem{Field: "cursor", Message: "is not from this list"})
	}
	if f.QuestionID != "" {
		id, err := r.FindID("question", "questions", fermata.PrefixQuestion, f.QuestionID)
		if err != nil {
			return nil, "", err
		}
		query.QuestionID = id
	} else if !maySeeAllDeliveries(c) {
		if err := c.CheckPermission(fermata.ToReadOwn, c.OwnResource()); err != nil {
			return nil, "", fermata.Errorf(fermata.CodeForbidden, "an agent may see only what was sent for one question").WithHint("name the question: question_id")
		}
		query.MemberID = c.MemberID
	}
	if f.Channel != "" {
		channel, err := r.ChannelByName(f.Channel)
		if err != nil {
			return nil, "", err
		}
		query.ChannelID = channel.ID
	}
	if err := s.workspace(c.WorkspaceID).awaitPlan(ctx, f.Wait); err != nil {
		return nil, "", err
	}
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, "", err
	}
	all, err := r.Deliveries(query)
	for _, d := range all {
		d.RedactFor(c)
		if d.IsLeased(now) {
			// The delivery is being sent, so its time has come.
			d.NextAt = &now
			if d.State != fermata.DeliverySent {
				d.NextAt = &d.CreatedAt
			}
		}
	}
	if err != nil || len(all) <= limit {
		return all, "", err
	}
	return all[:limit], all[limit-1].ID, nil
}

// planPollInterval is how often awaitPlan checks the progress of the planner.
const planPollInterval = 10 * time.Millisecond

// awaitPlan returns when the deliveries for all events so far are planned, or
// after the wait.
func (w *workspace) awaitPlan(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	r := w.s.db.Reader(ctx, w.id)
	if active, err := hasRecipient(r); err != nil || !active {
		return err
	}
	head, err := r.Head()
	if err != nil {
		return err
	}
	limit := time.NewTimer(wait)
	defer limit.Stop()
	tick := time.NewTicker(planPollInterval)
	defer tick.Stop()
	for {
		plan, err := r.Plan()
		if err != nil {
			return err
		}
		if upTo, err := plannedUpTo(r, plan, head.Seq); err != nil || upTo >= head.Seq {
			return err
		}
		select {
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// maySeeAllDeliveries reports whether the caller may see the deliveries to other members,
// as operators and tokens with the scope admin may.
func maySeeAllDeliveries(c fermata.Caller) bool {
	return c.CheckPermission(fermata.ToOverlookDeliveries, fermata.InWorkspace) == nil
}

// Delivery returns the delivery with the id, with its content if the caller may
// read it.
func (s *Service) Delivery(ctx context.Context, c fermata.Caller, id string) (*fermata.Delivery, error) {
	if err := c.CheckPermission(fermata.ToReadDeliveries, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	r := s.db.ReaderFor(ctx, c)
	id, err := r.FindID("delivery", "deliveries", fermata.PrefixDelivery, id)
	if err != nil {
		return nil, err
	}
	d, err := r.Delivery(id)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(d.ChannelID, kindCheck) {
		return nil, fermata.NotFound("delivery", id)
	}
	mayRead, err := mayReadContent(r, c, d)
	if err != nil {
		return nil, err
	}
	if !mayRead {
		d.Content = ""
	}
	return d.RedactFor(c), nil
}

// mayReadContent reports whether the caller may read the content of a delivery.
// Its recipient may, and so may an operator of its project who is signed in
// with a browser. A token belongs to a program: it may read only messages to
// its own person, and only if the token may answer.
func mayReadContent(r store.Reader, c fermata.Caller, d *fermata.Delivery) (bool, error) {
	if c.Kind == fermata.ActorHuman && c.MemberID != "" && d.MemberID == c.MemberID {
		return c.HasScope(fermata.ScopeAnswer), nil
	}
	if c.TokenID != "" {
		return false, nil
	}
	at, err := placeOf(r, d)
	return err == nil && c.CheckPermission(fermata.ToReadContent, at) == nil, err
}

// placeOf returns the resource of a delivery: the project of its task, or the
// workspace. A digest may contain questions of several projects.
func placeOf(r store.Reader, d *fermata.Delivery) (fermata.Resource, error) {
	switch {
	case d.Purpose == string(notice.Digest):
		return fermata.InEveryProject, nil
	case d.TaskID == "":
		return fermata.InWorkspace, nil
	}
	t, err := r.Task(d.TaskID)
	if err != nil {
		return fermata.Resource{}, err
	}
	return fermata.InProject(t.Project), nil
}

// Redeliver sends a message again, under the same id. The caller must be an
// operator of the message's project.
func (s *Service) Redeliver(ctx context.Context, c fermata.Caller, id string) (*fermata.Delivery, error) {
	if err := c.CheckPermission(fermata.ToRedeliver, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	id, err := s.db.ReaderFor(ctx, c).FindID("delivery", "deliveries", fermata.PrefixDelivery, id)
	if err != nil {
		return nil, err
	}
	d, err := engine.Write(ctx, s.e, c, fermata.ToRedeliver, func(tx *store.Tx) (*fermata.Delivery, error) { return redeliver(tx, c, id) })
	s.workspace(c.WorkspaceID).wakeSenders()
	return d, err
}

func redeliver(tx *store.Tx, c fermata.Caller, id string) (*fermata.Delivery, error) {
	rows, err := tx.DeliveriesByID([]string{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || rows[0].Kind == kindCheck {
		return nil, fermata.NotFound("delivery", id)
	}
	d := rows[0].RemoveAllSecrets()
	at, err := placeOf(tx.Reader, d)
	if err != nil {
		return nil, err
	}
	if err := c.CheckPermission(fermata.ToRedeliver, at); err != nil {
		return nil, err
	}
	if err := d.Redeliver(tx.Now()); err != nil {
		return nil, err
	}
	switch channel, err := tx.Channel(d.ChannelID); {
	case fermata.CodeOf(err) == fermata.CodeNotFound:
		return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the channel of the message does not exist any more")
	case err != nil:
		return nil, err
	case !channel.Enabled:
		return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the channel of the message is disabled").
			WithHint("enable it first: fermata channel enable %s", channel.Name)
	}
	tx.SaveDelivery(d)
	return d, nil
}
