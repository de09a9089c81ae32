package main

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// Returns the operations as text, a line each, in the order of their calls.
func describeAll(operations []porcupine.Operation) string {
	lines := make([]string, 0, len(operations))
	for _, operation := range operations {
		one := operation.Input.(request)
		lines = append(lines, fmt.Sprintf("  %s client %d, %s: %s", times(one), one.Client, one.Node, describe(one)))
	}
	return strings.Join(lines, "\n")
}

func times(r request) string {
	return fmt.Sprintf("%.6f to %.6f s,", float64(r.Call)/1e6, float64(r.Return)/1e6)
}

func describe(r request) string {
	parts := []string{r.Kind}
	for _, mark := range []string{r.Archive, r.Entry} {
		if mark != "" {
			parts = append(parts, mark)
		}
	}
	if r.IsFinal {
		parts = append(parts, "final")
	}
	if r.Key != "" {
		parts = append(parts, r.Key)
	}
	if r.IfMatch != nil {
		parts = append(parts, fmt.Sprintf("if-match %d", *r.IfMatch))
	}
	answer := fmt.Sprint(r.Code)
	if r.isUnknown() {
		answer = "unknown"
	}
	return strings.Join(parts, " ") + " -> " + answer + describeShown(r.Shown) + describeLag(r)
}

func describeLag(r request) string {
	if r.MayLag {
		return " (may lag)"
	}
	return ""
}

func describeShown(s shown) string {
	text := ""
	if s.Deposit != 0 {
		text += fmt.Sprintf(" deposit %d", s.Deposit)
	}
	if s.Revision != nil {
		text += fmt.Sprintf(" revision %d", *s.Revision)
	}
	if s.Status != "" {
		text += " " + s.Status
	}
	if s.Archives != nil {
		text += fmt.Sprint(" archives ", s.Archives)
	}
	if s.Entries != nil {
		text += fmt.Sprint(" entries ", s.Entries)
	}
	return text
}

func describeState(d deposit) string {
	if d.phase == absent {
		return "absent"
	}
	now := d.now()
	return fmt.Sprintf("revision %d %s archives %v entries %v", d.at, now.status, now.archives, now.entries)
}
