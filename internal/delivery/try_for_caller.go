package delivery

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// TestForCaller sends the caller a test message over a channel. The result does
// not show how the channel is configured, because only admins may see this.
func (s *Service) TestForCaller(ctx context.Context, c fermata.Caller, name string) (fermata.ChannelTest, error) {
	out := fermata.ChannelTest{Problems: []fermata.ChannelProblem{}}
	if err := c.CheckPermission(fermata.ToChangeOwn, c.OwnResource()); err != nil {
		return out, err
	}
	row, err := s.db.Reader(ctx, c.WorkspaceID).ChannelByName(name)
	if err != nil {
		return out, err
	}
	k, known := s.kind(row.Kind)
	if !known || !row.Enabled {
		out.Problems = append(out.Problems, fermata.ChannelProblem{Message: "nothing is sent over " + row.Name + " now", Hint: "an admin can enable the channel"})
		return out, nil
	}
	out.DeliveryID, err = s.sendTest(ctx, c, row, k, c.Name)
	if err != nil {
		out.Problems = append(out.Problems, problemOf(err))
	}
	out.OK = len(out.Problems) == 0
	return out, nil
}
