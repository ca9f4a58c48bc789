package engine

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Views lists the caller's saved views and those that others share. Views of a project that the caller may not see
// are left out.
func (e *Engine) Views(ctx context.Context, c fermata.Caller) ([]fermata.SavedView, error) {
	if err := c.CheckPermission(fermata.ToReadOwn, c.OwnResource()); err != nil {
		return nil, err
	}
	r := e.reader(ctx, c)
	views, err := r.Views(c.MemberID)
	views = slices.DeleteFunc(views, func(v fermata.SavedView) bool { return !v.IsVisibleTo(c) })
	if err != nil || len(views) == 0 {
		return views, err
	}
	members, err := r.Members()
	handles := fermata.HandlesByID(members)
	for i := range views {
		views[i].Owner = handles[views[i].OwnerID]
	}
	return views, err
}

// SaveView stores a view of the caller under its name. It replaces an earlier view with that name. One member may
// have at most [fermata.MaxViews].
func (e *Engine) SaveView(ctx context.Context, c fermata.Caller, v fermata.SavedView) (fermata.SavedView, error) {
	if err := c.CheckPermission(fermata.ToChangeOwn, c.OwnResource()); err != nil {
		return v, err
	}
	if err := v.Check(); err != nil {
		return v, err
	}
	return write(ctx, e, c, fermata.ToChangeOwn, func(tx *store.Tx) (fermata.SavedView, error) {
		v.OwnerID, v.Owner, v.UpdatedAt = c.MemberID, c.Name, tx.Now()
		views, err := tx.Views(c.MemberID)
		if err != nil {
			return v, err
		}
		mine := slices.DeleteFunc(views, func(other fermata.SavedView) bool { return other.OwnerID != c.MemberID || other.Name == v.Name })
		if len(mine) >= fermata.MaxViews {
			return v, fermata.Errorf(fermata.CodeInvalidRequest, "you have %d views, as many as there may be", len(mine)).
				WithHint("remove one that you do not use")
		}
		tx.SaveView(v)
		return v, nil
	})
}

// DeleteView removes a view of the caller.
func (e *Engine) DeleteView(ctx context.Context, c fermata.Caller, name string) error {
	if err := c.CheckPermission(fermata.ToChangeOwn, c.OwnResource()); err != nil {
		return err
	}
	_, err := write(ctx, e, c, fermata.ToChangeOwn, func(tx *store.Tx) (struct{}, error) {
		views, err := tx.Views(c.MemberID)
		if err != nil {
			return struct{}{}, err
		}
		if !slices.ContainsFunc(views, func(v fermata.SavedView) bool { return v.OwnerID == c.MemberID && v.Name == name }) {
			return struct{}{}, fermata.NotFound("view", name)
		}
		tx.DeleteView(c.MemberID, name)
		return struct{}{}, nil
	})
	return err
}
