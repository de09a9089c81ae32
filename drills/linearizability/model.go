package main

import (
	"fmt"
	"hash/fnv"

	"github.com/anishathalye/porcupine"
)

// Operations of one deposit take effect at one moment between their call and their return, one after the other. Reads
// and refusals of a node that may lag behind the log may show any earlier revision, also one between two events of the
// same request.
var depositModel = porcupine.Model{
	Init: func() interface{} { return deposit{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		return step(state.(deposit), input.(request))
	},
	Equal: func(one, other interface{}) bool { return nameOfState(one) == nameOfState(other) },
	Hash: func(state interface{}) uint64 {
		hash := fnv.New64a()
		hash.Write([]byte(nameOfState(state)))
		return hash.Sum64()
	},
	DescribeOperation: func(input, _ interface{}) string { return describe(input.(request)) },
	DescribeState:     func(state interface{}) string { return describeState(state.(deposit)) },
}

func nameOfState(state interface{}) string {
	d := state.(deposit)
	return fmt.Sprintf("%d %d%s", d.id, d.at, d.changes)
}

// Returns whether the answer fits the deposit, and the deposit afterwards.
func step(d deposit, r request) (bool, deposit) {
	_, isRepeated := d.keys[r.Key]
	switch {
	case r.isRead():
		return d.read(r)
	case r.isUnknown():
		if !isRepeated && d.accepts(r) {
			return true, d.after(r)
		}
		return true, d
	case r.isDone() && isRepeated:
		return d.repeat(r)
	case r.isDone() && d.accepts(r):
		return d.change(r)
	case r.isDone():
		// Only a completion may be answered without a change: the deposit is completed already.
		if r.Kind != "complete" || r.Shown.Status == "partial" {
			return false, d
		}
		return d.read(r)
	default:
		return (!isRepeated || r.Code == 404 || r.MayLag) && d.refuses(r), d
	}
}

// A change is answered with its own revision, or with a later one; the latter is looked at as a read of its own.
func (d deposit) change(r request) (bool, deposit) {
	next := d.after(r)
	if r.Kind == "delete" || r.Shown.Revision == nil {
		return true, next
	}
	revision := *r.Shown.Revision
	isOwn := revision == next.at && next.revisions[next.at].shows(r.Shown)
	isLater := revision > next.at && r.Kind != "replace" && r.Key == ""
	return isOwn || isLater, next
}

// A request that was carried out before is answered as it was then.
func (d deposit) repeat(r request) (bool, deposit) {
	if r.Kind != "create" && d.phase != live && !r.MayLag || !d.isNamed(r.id()) {
		return false, d
	}
	return d.find(r.Shown, d.keys[r.Key], d.keys[r.Key]) >= 0, d.named(r.id())
}

func (d deposit) read(r request) (bool, deposit) {
	if r.Code == 404 {
		return d.phase != live || r.MayLag, d
	}
	if r.Code >= 300 || d.phase == absent || !d.isNamed(r.Deposit) {
		return false, d
	}
	last := d.at
	if d.completed {
		last = len(d.revisions) - 1
	}
	if revision := d.find(r.Shown, d.at, last); d.phase == live && revision >= 0 {
		next := d.named(r.Deposit)
		next.at = revision
		return true, next
	}
	return r.MayLag && d.find(r.Shown, 0, d.at) >= 0, d.named(r.Deposit)
}

// Whether the deposit, as it is or is to become by itself, explains the refusal.
func (d deposit) refuses(r request) bool {
	switch r.Code {
	case 404:
		return d.phase != live || r.MayLag
	case 405:
		return d.completed
	case 412:
		isOther := r.IfMatch != nil && (*r.IfMatch != d.at || d.at < len(d.revisions)-1)
		return d.phase != absent && (isOther || r.MayLag)
	default:
		return true // a fault of the service, which the drill reports
	}
}

func (d deposit) named(id int) deposit {
	if d.id == 0 {
		d.id = id
	}
	return d
}
