package email

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

const (
	connectWithin = 30 * time.Second
	// idleFor is how long the server is left alone: a connection that died
	// unnoticed is found then.
	idleFor = 4 * time.Minute
	// backTo is how far back unread mails are looked at in a mailbox of which
	// nothing is known.
	backTo = 14 * 24 * time.Hour
	// atOnce is how many headers are fetched by one command.
	atOnce = 50
)

// mailbox is an open mailbox.
type mailbox struct {
	client   *imapclient.Client
	validity uint32
	// next is the UID of the next mail when the mailbox was opened.
	next imap.UID
	// idles says that the server tells of new mail by itself, and came is told.
	idles bool
	came  chan struct{}
	stop  func() bool
}

// incoming is a mail of which the header is known.
type incoming struct {
	uid    imap.UID
	header []byte
	at     time.Time
}

// openMailbox connects, signs in and opens the mailbox.
func (c *Channel) openMailbox(ctx context.Context) (*mailbox, error) {
	box := &mailbox{came: make(chan struct{}, 1)}
	client, err := c.imap.dial(ctx, box.handler())
	if err != nil {
		return nil, err
	}
	box.client = client
	// The library's commands know no context.
	box.stop = context.AfterFunc(ctx, func() { _ = client.Close() })
	if err := client.Login(c.imap.user, c.imap.password).Wait(); err != nil {
		box.close()
		return nil, mailboxError("the mailbox refused the user or the password", err)
	}
	if c.moveTo != "" {
		// It is there already, or moving will say what is wrong.
		_ = client.Create(c.moveTo, nil).Wait()
	}
	selected, err := client.Select(c.mailbox, nil).Wait()
	if err != nil {
		box.close()
		return nil, mailboxError("the folder "+c.mailbox+" cannot be opened", err)
	}
	box.validity, box.next, box.idles = selected.UIDValidity, selected.UIDNext, client.Caps().Has(imap.CapIdle)
	return box, nil
}

func (b *mailbox) handler() *imapclient.UnilateralDataHandler {
	return &imapclient.UnilateralDataHandler{Mailbox: func(data *imapclient.UnilateralDataMailbox) {
		if data.NumMessages != nil {
			select {
			case b.came <- struct{}{}:
			default:
			}
		}
	}}
}

// dial connects. Only to this machine it goes without TLS.
func (s *server) dial(ctx context.Context, handler *imapclient.UnilateralDataHandler) (*imapclient.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	options := &imapclient.Options{TLSConfig: s.config, UnilateralDataHandler: handler}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address())
	if err != nil {
		return nil, err
	}
	// What a server says before it is one of the right kind may never come.
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if s.tls {
		secured := tls.Client(conn, s.config)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return checkGreeting(imapclient.New(secured, options))
	}
	if !s.local() {
		return imapclient.NewStartTLS(conn, options)
	}
	return checkGreeting(imapclient.New(conn, options))
}

func checkGreeting(client *imapclient.Client) (*imapclient.Client, error) {
	if err := client.WaitGreeting(); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

func (b *mailbox) close() {
	b.stop()
	_ = b.client.Close()
}

// find returns the mails that have to be looked at, in the order they came.
func (b *mailbox) find(at *place) ([]imap.UID, error) {
	criteria := &imap.SearchCriteria{UID: []imap.UIDSet{{{Start: at.Next, Stop: 0}}}}
	if at.fresh {
		criteria = &imap.SearchCriteria{NotFlag: []imap.Flag{imap.FlagSeen}, Since: time.Now().Add(-backTo)}
	}
	data, err := b.client.UIDSearch(criteria, nil).Wait()
	if err != nil {
		return nil, err
	}
	var uids []imap.UID
	for _, uid := range data.AllUIDs() {
		// The range n:* always has the last one.
		if uid >= at.Next {
			uids = append(uids, uid)
		}
	}
	for uid := range at.Again {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	return slices.Compact(uids), nil
}

// headers fetches the headers of mails. Some may be gone.
func (b *mailbox) headers(uids []imap.UID) ([]incoming, error) {
	section := &imap.FetchItemBodySection{Specifier: imap.PartSpecifierHeader, Peek: true}
	found, err := b.client.Fetch(imap.UIDSetNum(uids...), &imap.FetchOptions{
		UID: true, InternalDate: true, BodySection: []*imap.FetchItemBodySection{section},
	}).Collect()
	if err != nil {
		return nil, err
	}
	have := map[imap.UID]incoming{}
	for _, m := range found {
		have[m.UID] = incoming{uid: m.UID, header: m.FindBodySection(section), at: m.InternalDate}
	}
	mails := make([]incoming, 0, len(uids))
	for _, uid := range uids {
		m := have[uid]
		m.uid = uid // one that is gone is passed like any other
		mails = append(mails, m)
	}
	return mails, nil
}

// body fetches so many bytes of a mail.
func (b *mailbox) body(uid imap.UID, most int64) ([]byte, error) {
	section := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Size: most}}
	found, err := b.client.Fetch(imap.UIDSetNum(uid), &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{section}}).Collect()
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].FindBodySection(section), nil
}

// text returns the text of a mail. Where it may go on beyond what is read at
// first, all of the mail is read.
func (b *mailbox) text(uid imap.UID) (said, error) {
	body, err := b.body(uid, mostRead)
	if err != nil || len(body) < mostRead {
		return textOf(body), err
	}
	if body, err = b.body(uid, largeRead); err != nil {
		return said{}, err
	}
	found := textOf(body)
	if len(body) >= largeRead && found.doubt == "" {
		found.doubt, found.remedy = longDoubt, oneTextRemedy
	}
	return found, nil
}

// fileMail marks a mail as read, and moves it where that is wanted.
func (b *mailbox) fileMail(uid imap.UID, to string) error {
	set := imap.UIDSetNum(uid)
	flags := &imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true, Flags: []imap.Flag{imap.FlagSeen}}
	if err := b.client.Store(set, flags, nil).Close(); err != nil {
		return err
	}
	if to == "" {
		return nil
	}
	_, err := b.client.Move(set, to).Wait()
	return err
}

// wait returns when new mail may have come, and at the latest after a time.
func (b *mailbox) wait(ctx context.Context, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	if b.idles {
		idle, err := b.client.Idle()
		if err != nil {
			return err
		}
		b.sit(ctx, timer.C)
		if err := errors.Join(idle.Close(), idle.Wait()); err != nil {
			return err
		}
	} else {
		b.sit(ctx, timer.C)
		if err := b.client.Noop().Wait(); err != nil {
			return err
		}
	}
	select {
	case <-b.client.Closed():
		return errors.New("the connection to the mailbox ended")
	default:
		return ctx.Err()
	}
}

func (b *mailbox) sit(ctx context.Context, late <-chan time.Time) {
	select {
	case <-ctx.Done():
	case <-late:
	case <-b.came:
	case <-b.client.Closed():
	}
}
