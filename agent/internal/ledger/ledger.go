// Package ledger keeps the sessions: one append-only log of events for each,
// held by one process at a time, and a cached list of all. It knows nothing of
// what the records mean; the caller's Fold says how a record changes the summary
// of its session.
//
// Files is the store on disk, Memory the one that forgets. On disk a session is
// the folder dir/sessions/ID with the files log, lock and holder; dir/index is
// a cache of the summaries and may be deleted at any time.
package ledger

import (
	"encoding/json"
	"iter"
	"log/slog"
	"time"
)

// Record is one event of a session.
type Record struct {
	Seq  uint64          // from 1, without gaps; set by Append
	Time time.Time       // UTC, millisecond precision; set by Append when zero
	Kind string          // lower-case word(s) with underscores, at most 32 bytes
	Data json.RawMessage // valid JSON on one line; nil is none
}

// Ledger is the log of one session, held by this process. Its methods may be
// called from several goroutines.
type Ledger interface {
	// Append writes the records in one piece behind the last one (one write
	// system call), so that a killed process loses none of them. All of them or
	// none, also after a kill or a power cut in the middle. The Seq of the
	// records given is not looked at, and they are not changed.
	Append(recs ...Record) error
	// Sync returns when everything appended is on the disk. Cheap when nothing
	// was appended since the last Sync; concurrent Syncs share one fsync. After
	// a failure it fails for good, because the system forgets what it could not
	// write: open the session anew.
	Sync() error
	// Read yields the records from seq on, up to those appended when it began,
	// in order, streaming from disk with flat memory; Append may go on
	// meanwhile. An error ends it.
	Read(from uint64) iter.Seq2[Record, error]
	// Info returns how much there is.
	Info() Info
	// Delete removes the session for good while it is held, and closes it.
	Delete() error
	// Close syncs and gives the session up, so that another process can open
	// it. Idempotent; later calls of Append give ErrClosed.
	Close() error
}

// Info is the size of a ledger.
type Info struct {
	Records  uint64
	Bytes    int64
	Checksum string // of the last record, empty when there is none
	Folder   string // empty in memory
}

// Store keeps the ledgers.
type Store interface {
	// Create starts a session. File and folder are durable before it returns; an
	// id that is there gives ErrExists.
	Create(id string, first ...Record) (Ledger, error)
	// Open takes a session over and repairs its log. The error is ErrUnknown,
	// *HeldError, *FormatError, *DamagedError or that of the system. each, if it is
	// not nil, gets the records that Read(1) yields then, while they are looked at
	// anyway, also when Open fails in the end; it must not keep or change their Data.
	Open(id string, each func(Record)) (Ledger, error)
	// Read yields the whole records of a session without holding it, also while
	// another process does.
	Read(id string, from uint64) iter.Seq2[Record, error]
	// List returns every stored session that is not being deleted, in no order.
	// It prunes those that were never prompted and are 30 days old.
	List() ([]Summary, error)
	// Delete removes a session that this process does not hold. An unknown one
	// gives nil, one that is held *HeldError.
	Delete(id string) error
}

// Summary is what List tells about a session. ID, Records and Bytes come from
// the store, the rest from Fold; Created and Updated, where Fold leaves them
// zero, are the times of the first and the last record.
type Summary struct {
	ID, CWD, Title   string
	Created, Updated time.Time
	Prompted         bool
	Records          uint64
	Bytes            int64
}

// Options are the same for both stores. The zero value works where List is not needed.
type Options struct {
	// Fold takes one record into the summary of its session: which record says
	// what is the caller's business. Required for List.
	Fold func(*Summary, Record)
	// Owner is what a HeldError shows another process (default: program name and pid).
	Owner string
	// Logger is told of repairs, one line each with counts; default none.
	Logger *slog.Logger
	// Now is the clock (default time.Now).
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Fold == nil {
		o.Fold = func(*Summary, Record) {}
	}
	if o.Owner == "" {
		o.Owner = defaultOwner()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Files returns the store in dir, $REASONIX_HOME/acp. Nothing is touched or
// created before the first call that needs it.
func Files(dir string, o Options) Store {
	return &files{dir: dir, Options: o.withDefaults(), disk: osDisk{}}
}

// Memory returns a store that touches no disk. A session is there while it is
// open; Open of it returns the same Ledger, and its Close forgets it.
func Memory(o Options) Store {
	return &memory{Options: o.withDefaults(), open: map[string]*memoryLedger{}}
}
