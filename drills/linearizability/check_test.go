package main

import (
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

// A history is one request a line; `legal` says whether an order of its operations explains it.
var histories = []struct {
	fact    string
	legal   bool
	history string
}{
	{"a read that begins after a write was answered shows it", true, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1,"status":"partial","archives":["a1"],"entries":[]}}
{"kind":"add","deposit":1,"entry":"e1","call":3,"return":4,"code":201,"shown":{"deposit":1,"revision":2,"status":"partial","archives":["a1"],"entries":["e1"]}}
{"kind":"receipt","deposit":1,"call":5,"return":6,"code":200,"shown":{"deposit":1,"revision":2,"status":"partial","archives":["a1"],"entries":["e1"]}}`},
	{"a read that begins after a write was answered is stale without it", false, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1,"status":"partial","archives":["a1"],"entries":[]}}
{"kind":"add","deposit":1,"entry":"e1","call":3,"return":4,"code":201,"shown":{"deposit":1,"revision":2,"status":"partial","archives":["a1"],"entries":["e1"]}}
{"kind":"receipt","deposit":1,"call":5,"return":6,"code":200,"shown":{"deposit":1,"revision":1,"status":"partial","archives":["a1"],"entries":[]}}`},
	{"a read of a node that may lag behind the log may show an earlier state", true, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1,"status":"partial"}}
{"kind":"add","deposit":1,"entry":"e1","call":3,"return":4,"code":201,"shown":{"deposit":1,"revision":2,"status":"partial"}}
{"kind":"receipt","deposit":1,"call":5,"return":6,"code":200,"shown":{"deposit":1,"revision":1,"archives":["a1"],"entries":[]},"mayLag":true}`},
	{"a read of a node that may lag behind the log may not show a state that never was", false, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1,"status":"partial"}}
{"kind":"receipt","deposit":1,"call":5,"return":6,"code":200,"shown":{"deposit":1,"revision":1,"archives":["a2"],"entries":[]},"mayLag":true}`},
	{"a read may show a write that is not answered yet, or not", true, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"replace","deposit":1,"archive":"a2","call":3,"return":9,"code":204,"shown":{"revision":2}}
{"kind":"receipt","deposit":1,"call":4,"return":5,"code":200,"shown":{"deposit":1,"revision":1,"archives":["a1"]}}
{"kind":"receipt","deposit":1,"call":6,"return":7,"code":200,"shown":{"deposit":1,"revision":2,"archives":["a2"]}}`},
	{"a write that a read has shown does not go away again", false, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"replace","deposit":1,"archive":"a2","call":3,"return":9,"code":204,"shown":{"revision":2}}
{"kind":"receipt","deposit":1,"call":4,"return":5,"code":200,"shown":{"deposit":1,"revision":2,"archives":["a2"]}}
{"kind":"receipt","deposit":1,"call":6,"return":7,"code":200,"shown":{"deposit":1,"revision":1,"archives":["a1"]}}`},
	{"an update is lost when two writes are answered with the same revision", false, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"replace","deposit":1,"entry":"e1","call":3,"return":6,"code":204,"shown":{"revision":2}}
{"kind":"replace","deposit":1,"entry":"e2","call":4,"return":7,"code":204,"shown":{"revision":2}}`},
	{"an update is lost when what a write has added is missing later", false, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"add","deposit":1,"archive":"a2","call":3,"return":6,"code":201,"shown":{"deposit":1,"revision":2}}
{"kind":"add","deposit":1,"archive":"a3","call":7,"return":8,"code":201,"shown":{"deposit":1,"revision":3}}
{"kind":"receipt","deposit":1,"call":9,"return":10,"code":200,"shown":{"deposit":1,"revision":3,"archives":["a1","a3"]}}`},
	{"of two writes with the same If-Match one is refused", true, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"replace","deposit":1,"entry":"e1","ifMatch":1,"call":3,"return":6,"code":204,"shown":{"revision":2}}
{"kind":"replace","deposit":1,"entry":"e2","ifMatch":1,"call":3,"return":6,"code":412}`},
	{"of two writes with the same If-Match not both succeed", false, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"replace","deposit":1,"entry":"e1","ifMatch":1,"call":3,"return":6,"code":204,"shown":{"revision":2}}
{"kind":"replace","deposit":1,"entry":"e2","ifMatch":1,"call":3,"return":6,"code":204,"shown":{"revision":3}}`},
	{"a write with the present revision in If-Match is not refused", false, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"replace","deposit":1,"entry":"e1","ifMatch":1,"call":3,"return":6,"code":412}`},
	{"a creation that is repeated with its key is answered like the first time", true, `
{"kind":"create","archive":"a1","key":"k","call":1,"return":2,"code":0}
{"kind":"create","archive":"a1","key":"k","call":3,"return":4,"code":201,"shown":{"deposit":1,"revision":1,"status":"partial"}}
{"kind":"add","deposit":1,"entry":"e1","call":5,"return":6,"code":201,"shown":{"deposit":1,"revision":2,"status":"partial"}}
{"kind":"create","archive":"a1","key":"k","call":7,"return":8,"code":201,"shown":{"deposit":1,"revision":1,"status":"partial"}}`},
	{"a creation is doubled when its key has two ids", false, `
{"kind":"create","archive":"a1","key":"k","call":1,"return":4,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"create","archive":"a1","key":"k","call":2,"return":5,"code":201,"shown":{"deposit":2,"revision":1}}`},
	{"a creation is doubled when a deposit that no answer named has its content", false, `
{"kind":"create","archive":"a1","key":"k","call":1,"return":2,"code":0}
{"kind":"create","archive":"a1","key":"k","call":3,"return":4,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"receipt","deposit":1,"call":5,"return":6,"code":200,"shown":{"deposit":1,"revision":1,"archives":["a1"]}}
{"kind":"receipt","deposit":2,"call":5,"return":6,"code":200,"shown":{"deposit":2,"revision":1,"archives":["a1"]}}`},
	{"two creations do not get the same id", false, `
{"kind":"create","archive":"a1","call":1,"return":4,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"create","archive":"a2","call":2,"return":5,"code":201,"shown":{"deposit":1,"revision":1}}`},
	{"a creation without an answer may have made a deposit", true, `
{"kind":"create","archive":"a1","entry":"e1","isFinal":true,"call":1,"return":2,"code":503}
{"kind":"receipt","deposit":7,"call":5,"return":6,"code":200,"shown":{"deposit":7,"revision":6,"status":"done","archives":["a1"],"entries":["e1"]}}`},
	{"a completion is lost when the deposit is partial later", false, `
{"kind":"create","archive":"a1","entry":"e1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":2,"status":"partial"}}
{"kind":"complete","deposit":1,"call":3,"return":4,"code":200,"shown":{"deposit":1,"revision":3,"status":"deposited"}}
{"kind":"status","deposit":1,"call":5,"return":6,"code":201,"shown":{"deposit":1,"revision":2,"status":"partial"}}`},
	{"a completion is answered with what it has made", false, `
{"kind":"create","archive":"a1","entry":"e1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":2,"status":"partial"}}
{"kind":"complete","deposit":1,"call":3,"return":4,"code":200,"shown":{"deposit":1,"revision":2,"status":"partial"}}`},
	{"statuses after a completion move forward", true, `
{"kind":"create","archive":"a1","entry":"e1","isFinal":true,"call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":4,"status":"verified"}}
{"kind":"status","deposit":1,"call":3,"return":4,"code":201,"shown":{"deposit":1,"revision":5,"status":"loading"}}
{"kind":"complete","deposit":1,"call":5,"return":6,"code":200,"shown":{"deposit":1,"revision":6,"status":"done"}}
{"kind":"status","deposit":1,"call":7,"return":8,"code":201,"shown":{"deposit":1,"revision":6,"status":"done"}}`},
	{"statuses after a completion do not move back", false, `
{"kind":"create","archive":"a1","entry":"e1","isFinal":true,"call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":3,"status":"deposited"}}
{"kind":"status","deposit":1,"call":3,"return":4,"code":201,"shown":{"deposit":1,"revision":6,"status":"done"}}
{"kind":"status","deposit":1,"call":5,"return":6,"code":201,"shown":{"deposit":1,"revision":5,"status":"loading"}}`},
	{"a deposit with an archive and an entry is not rejected", false, `
{"kind":"create","archive":"a1","entry":"e1","isFinal":true,"call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":3,"status":"deposited"}}
{"kind":"status","deposit":1,"call":3,"return":4,"code":201,"shown":{"deposit":1,"revision":4,"status":"rejected"}}`},
	{"a deposit without an entry is rejected", true, `
{"kind":"create","archive":"a1","isFinal":true,"call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":2,"status":"deposited"}}
{"kind":"status","deposit":1,"call":3,"return":4,"code":201,"shown":{"deposit":1,"revision":3,"status":"rejected"}}`},
	{"a deposit that was deleted is not found", true, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"delete","deposit":1,"call":3,"return":6,"code":204}
{"kind":"add","deposit":1,"entry":"e1","call":4,"return":7,"code":404}
{"kind":"status","deposit":1,"call":8,"return":9,"code":404}`},
	{"a deposit that was deleted does not come back", false, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"delete","deposit":1,"call":3,"return":6,"code":204}
{"kind":"receipt","deposit":1,"call":8,"return":9,"code":200,"shown":{"deposit":1,"revision":1,"archives":["a1"]}}`},
	{"a deposit that is there is found", false, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"status","deposit":1,"call":8,"return":9,"code":404}`},
	{"a write without an answer may take effect after later writes", true, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"replace","deposit":1,"archive":"a2","call":3,"return":4,"code":0}
{"kind":"replace","deposit":1,"archive":"a3","call":5,"return":6,"code":204,"shown":{"revision":2}}
{"kind":"receipt","deposit":1,"call":7,"return":8,"code":200,"shown":{"deposit":1,"revision":2,"archives":["a3"]}}
{"kind":"receipt","deposit":1,"call":9,"return":10,"code":200,"shown":{"deposit":1,"revision":3,"archives":["a2"]}}`},
	{"a write without an answer takes effect at most once", false, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"add","deposit":1,"archive":"a2","key":"k","call":3,"return":4,"code":0}
{"kind":"add","deposit":1,"archive":"a2","key":"k","call":5,"return":6,"code":201,"shown":{"deposit":1,"revision":2}}
{"kind":"receipt","deposit":1,"call":7,"return":8,"code":200,"shown":{"deposit":1,"revision":3,"archives":["a1","a2","a2"]}}`},
	{"a deposit that no request created is not found", false, `
{"kind":"receipt","deposit":1,"call":7,"return":8,"code":200,"shown":{"deposit":1,"revision":1,"archives":["a1"]}}`},
}

func TestHistoriesAreToldApart(t *testing.T) {
	for _, one := range histories {
		t.Run(one.fact, func(t *testing.T) {
			found := judge(t, one.history)
			if legal := len(found.Violations) == 0; legal != one.legal {
				t.Errorf("legal: %t, wanted %t", legal, one.legal)
			}
			if len(found.Undecided) > 0 {
				t.Error("undecided")
			}
		})
	}
}

func TestOnlyContradictingOperationsAreShown(t *testing.T) {
	found := judge(t, `
{"kind":"create","archive":"a1","call":1,"return":2,"code":201,"shown":{"deposit":1,"revision":1}}
{"kind":"status","deposit":1,"call":3,"return":4,"code":201,"shown":{"deposit":1,"revision":1,"status":"partial"}}
{"kind":"replace","deposit":1,"archive":"a2","call":5,"return":6,"code":204,"shown":{"revision":2}}
{"kind":"receipt","deposit":1,"call":7,"return":8,"code":200,"shown":{"deposit":1,"revision":1,"archives":["a1"]}}
{"kind":"receipt","deposit":1,"call":9,"return":10,"code":200,"shown":{"deposit":1,"revision":2,"archives":["a2"]}}
{"kind":"delete","deposit":1,"call":11,"return":12,"code":204}`)
	lines := strings.Split(found.Violations[0].Text, "\n")
	wanted := []string{"create a1", "replace a2", "receipt -> 200 deposit 1 revision 1"}
	if len(lines) != len(wanted) {
		t.Fatalf("%d operations, wanted %d:\n%s", len(lines), len(wanted), found.Violations[0].Text)
	}
	for i, text := range wanted {
		if !strings.Contains(lines[i], text) {
			t.Errorf("line %d has no %q: %s", i, text, lines[i])
		}
	}
}

func TestReadsOfAnEarlierStateAreCounted(t *testing.T) {
	found := judge(t, histories[2].history)
	if found.Stale != 1 {
		t.Errorf("%d reads, wanted 1", found.Stale)
	}
}

func TestALineThatIsNotJSONIsNamed(t *testing.T) {
	_, err := readHistory(strings.NewReader("{}\n{\"kind\":\n"))
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("the error is %v", err)
	}
}

func judge(t *testing.T, history string) verdict {
	t.Helper()
	requests, err := readHistory(strings.NewReader(strings.TrimSpace(history)))
	if err != nil {
		t.Fatal(err)
	}
	return check(requests, func(id int, part []porcupine.Operation, _ porcupine.LinearizationInfo) violation {
		return violation{Deposit: id, Text: describeAll(smallest(part))}
	})
}
