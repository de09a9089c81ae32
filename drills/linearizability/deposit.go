package main

import (
	"fmt"
	"strings"
)

const (
	absent = iota
	live
	deleted
)

// A deposit between two operations. It is never changed, only replaced.
type deposit struct {
	phase int
	// 0 while no answer has named it.
	id int
	// What the deposit shows at each revision, those to come of a deposit that is completed included.
	revisions []snapshot
	// The present revision.
	at int
	// Whether it is completed: then it goes on to later revisions by itself.
	completed bool
	// The revision that each request with a key has made.
	keys map[string]int
	// Every change so far. Deposits with the same changes are the same but for what `at` and `id` say.
	changes string
}

type snapshot struct {
	status            string
	archives, entries []string
}

func (d deposit) isPartial() bool {
	return d.phase == live && !d.completed
}

func (d deposit) now() snapshot {
	if len(d.revisions) == 0 {
		return snapshot{status: "partial"}
	}
	return d.revisions[d.at]
}

// Whether the request may change the deposit as it is.
func (d deposit) accepts(r request) bool {
	if r.Kind == "create" {
		return d.phase == absent
	}
	return d.isPartial() && d.isNamed(r.Deposit) && (r.IfMatch == nil || *r.IfMatch == d.at)
}

func (d deposit) isNamed(id int) bool {
	return d.id == 0 || id == 0 || d.id == id
}

// Returns the deposit after the request, one revision for each of its events.
func (d deposit) after(r request) deposit {
	next := d
	if d.id == 0 {
		next.id = r.id()
	}
	next.phase = live
	now := d.now()
	if r.Kind == "create" {
		next.push(now)
	}
	if r.Archive != "" {
		now.archives = changed(now.archives, r.Archive, r.Kind)
		next.push(now)
	}
	if r.Entry != "" {
		now.entries = changed(now.entries, r.Entry, r.Kind)
		next.push(now)
	}
	if r.Kind == "delete" {
		next.push(snapshot{status: "deleted"})
		next.phase = deleted
	}
	if r.IsFinal || r.Kind == "complete" {
		now.status = "deposited"
		next.push(now)
		at := next.at
		for _, status := range statusesAfter(now) {
			now.status = status
			next.push(now)
		}
		next.at = at
		next.completed = true
	}
	if r.Key != "" {
		next.keys = map[string]int{r.Key: next.at}
		for key, revision := range d.keys {
			next.keys[key] = revision
		}
	}
	next.changes = fmt.Sprintf("%s; %s %s %s %t %s", d.changes, r.Kind, r.Archive, r.Entry, r.IsFinal, r.Key)
	return next
}

func (d *deposit) push(shot snapshot) {
	d.revisions = append(d.revisions[:len(d.revisions):len(d.revisions)], shot)
	d.at = len(d.revisions) - 1
}

func changed(marks []string, mark, kind string) []string {
	if kind == "replace" {
		return []string{mark}
	}
	return append(marks[:len(marks):len(marks)], mark)
}

// Returns the statuses that follow by themselves: a deposit needs an archive and an entry.
func statusesAfter(completed snapshot) []string {
	if len(completed.archives) == 0 || len(completed.entries) == 0 {
		return []string{"rejected"}
	}
	return []string{"verified", "loading", "done"}
}

// Returns the first revision from this one on that an answer may have shown, -1 if there is none. `last`: the last one
// that counts.
func (d deposit) find(s shown, from, last int) int {
	for revision := from; revision <= last; revision++ {
		if (s.Revision == nil || *s.Revision == revision) && d.revisions[revision].shows(s) {
			return revision
		}
	}
	return -1
}

func (shot snapshot) shows(s shown) bool {
	return (s.Status == "" || s.Status == shot.status) &&
		(s.Archives == nil || same(s.Archives, shot.archives)) &&
		(s.Entries == nil || same(s.Entries, shot.entries))
}

func same(one, other []string) bool {
	return strings.Join(one, " ") == strings.Join(other, " ")
}
