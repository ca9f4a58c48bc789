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
	connectTimeout = 30 * time.Second
	// idleTimeout is the longest time without a command to the server. So a connection that broke silently is noticed
	// after this time.
	idleTimeout = 4 * time.Minute
	// initialLookback is how far back unread mails are read in a mailbox that Fermata
	// does not know yet.
	initialLookback = 14 * 24 * time.Hour
	// fetchBatchSize is how many headers one command fetches.
	fetchBatchSize = 50
)

// mailbox is an open mailbox.
type mailbox struct {
	client   *imapclient.Client
	validity uint32
	// next is the UID that the server announced for the next new mail (UIDNEXT) when the mailbox was opened.
	next imap.UID
	// supportsIdle reports whether the server announces new mail (IDLE). newMail
	// receives a value for each announcement.
	supportsIdle bool
	newMail      chan struct{}
	stop         func() bool
}

// incomingMail is a mail whose header was read.
type incomingMail struct {
	uid    imap.UID
	header []byte
	at     time.Time
}

// openMailbox connects, signs in and opens the mailbox.
func (c *Channel) openMailbox(ctx context.Context) (*mailbox, error) {
	box := &mailbox{newMail: make(chan struct{}, 1)}
	client, err := c.imap.dial(ctx, box.handler())
	if err != nil {
		return nil, err
	}
	box.client = client
	// The commands of the library take no context.
	box.stop = context.AfterFunc(ctx, func() { _ = client.Close() })
	if err := client.Login(c.imap.user, c.imap.password).Wait(); err != nil {
		box.close()
		return nil, mailboxError("the mailbox refused the user or the password", err)
	}
	if c.moveTo != "" {
		// An error is ignored: the folder may exist already. If not, moving a
		// mail reports the problem.
		_ = client.Create(c.moveTo, nil).Wait()
	}
	selected, err := client.Select(c.mailbox, nil).Wait()
	if err != nil {
		box.close()
		return nil, mailboxError("the folder "+c.mailbox+" cannot be opened", err)
	}
	box.validity, box.next, box.supportsIdle = selected.UIDValidity, selected.UIDNext, client.Caps().Has(imap.CapIdle)
	return box, nil
}

func (b *mailbox) handler() *imapclient.UnilateralDataHandler {
	return &imapclient.UnilateralDataHandler{Mailbox: func(data *imapclient.UnilateralDataMailbox) {
		if data.NumMessages != nil {
			select {
			case b.newMail <- struct{}{}:
			default:
			}
		}
	}}
}

// dial connects over TLS or STARTTLS. Only a connection to a server on this machine may be unencrypted.
func (s *server) dial(ctx context.Context, handler *imapclient.UnilateralDataHandler) (*imapclient.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	options := &imapclient.Options{TLSConfig: s.config, UnilateralDataHandler: handler}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address())
	if err != nil {
		return nil, err
	}
	// A server of another protocol may never send the greeting that the library waits for.
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if s.tls {
		secured := tls.Client(conn, s.config)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return checkGreeting(imapclient.New(secured, options))
	}
	if !s.isLocal() {
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

// find returns the mails to read, in the order in which they arrived.
func (b *mailbox) find(pos *mailboxPosition) ([]imap.UID, error) {
	criteria := &imap.SearchCriteria{UID: []imap.UIDSet{{{Start: pos.Next, Stop: 0}}}}
	if pos.isNew {
		criteria = &imap.SearchCriteria{NotFlag: []imap.Flag{imap.FlagSeen}, Since: time.Now().Add(-initialLookback)}
	}
	data, err := b.client.UIDSearch(criteria, nil).Wait()
	if err != nil {
		return nil, err
	}
	var uids []imap.UID
	for _, uid := range data.AllUIDs() {
		// The range n:* always contains the last mail.
		if uid >= pos.Next {
			uids = append(uids, uid)
		}
	}
	for uid := range pos.Retry {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	return slices.Compact(uids), nil
}

// headers fetches the headers of mails. The header of a mail that was deleted meanwhile is empty.
func (b *mailbox) headers(uids []imap.UID) ([]incomingMail, error) {
	section := &imap.FetchItemBodySection{Specifier: imap.PartSpecifierHeader, Peek: true}
	found, err := b.client.Fetch(imap.UIDSetNum(uids...), &imap.FetchOptions{
		UID: true, InternalDate: true, BodySection: []*imap.FetchItemBodySection{section},
	}).Collect()
	if err != nil {
		return nil, err
	}
	have := map[imap.UID]incomingMail{}
	for _, m := range found {
		have[m.UID] = incomingMail{uid: m.UID, header: m.FindBodySection(section), at: m.InternalDate}
	}
	mails := make([]incomingMail, 0, len(uids))
	for _, uid := range uids {
		m := have[uid]
		m.uid = uid // a deleted mail has no header, so it counts as a mail that is not ours
		mails = append(mails, m)
	}
	return mails, nil
}

// body fetches the first maxBytes bytes of a mail.
func (b *mailbox) body(uid imap.UID, maxBytes int64) ([]byte, error) {
	section := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Size: maxBytes}}
	found, err := b.client.Fetch(imap.UIDSetNum(uid), &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{section}}).Collect()
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].FindBodySection(section), nil
}

// text returns the text of a mail. It first reads the beginning. If the text
// may continue after it, it reads the whole mail.
func (b *mailbox) text(uid imap.UID) (splitReply, error) {
	body, err := b.body(uid, initialReadSize)
	if err != nil || len(body) < initialReadSize {
		return textOf(body), err
	}
	if body, err = b.body(uid, maxReadSize); err != nil {
		return splitReply{}, err
	}
	found := textOf(body)
	if len(body) >= maxReadSize && found.doubt == "" {
		found.doubt, found.remedy = longDoubt, oneTextRemedy
	}
	return found, nil
}

// fileMail marks a mail as read, and moves it to the folder named to. If to is "", the mail stays in the mailbox.
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

// wait returns when new mail may have arrived, and after maxWait at the latest.
func (b *mailbox) wait(ctx context.Context, maxWait time.Duration) error {
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	if b.supportsIdle {
		idle, err := b.client.Idle()
		if err != nil {
			return err
		}
		b.awaitEvent(ctx, timer.C)
		if err := errors.Join(idle.Close(), idle.Wait()); err != nil {
			return err
		}
	} else {
		b.awaitEvent(ctx, timer.C)
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

func (b *mailbox) awaitEvent(ctx context.Context, timeout <-chan time.Time) {
	select {
	case <-ctx.Done():
	case <-timeout:
	case <-b.newMail:
	case <-b.client.Closed():
	}
}
