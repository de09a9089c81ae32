package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sort"
)

// A request is a line of the history: what a client asked for, when, and what it was answered.
type request struct {
	Kind    string `json:"kind"`
	Deposit int    `json:"deposit"`
	Archive string `json:"archive"`
	Entry   string `json:"entry"`
	IsFinal bool   `json:"isFinal"`
	Key     string `json:"key"`
	IfMatch *int   `json:"ifMatch"`
	Client  int    `json:"client"`
	Node    string `json:"node"`
	Call    int64  `json:"call"`
	Return  int64  `json:"return"`
	Code    int    `json:"code"`
	Shown   shown  `json:"shown"`
	MayLag  bool   `json:"mayLag"`
}

// What an answer shows of a deposit; what it does not show is nil or empty.
type shown struct {
	Deposit  int      `json:"deposit"`
	Revision *int     `json:"revision"`
	Status   string   `json:"status"`
	Archives []string `json:"archives"`
	Entries  []string `json:"entries"`
}

func (r request) isRead() bool {
	return r.Kind == "status" || r.Kind == "receipt"
}

// Whether the request may have been carried out or not.
func (r request) isUnknown() bool {
	return r.Code == 0 || r.Code >= 500
}

func (r request) isDone() bool {
	return r.Code >= 200 && r.Code < 300
}

// Returns the deposit that the request was about, 0 if its client does not know.
func (r request) id() int {
	if r.Deposit != 0 {
		return r.Deposit
	}
	return r.Shown.Deposit
}

// Returns the content that makes the request unlike every other one.
func (r request) mark() string {
	if r.Archive != "" {
		return r.Archive
	}
	return r.Entry
}

func readHistory(input io.Reader) ([]request, error) {
	var history []request
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 1<<24)
	for number := 1; lines.Scan(); number++ {
		var read request
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			return nil, fmt.Errorf("line %d of the history: %w", number, err)
		}
		history = append(history, read)
	}
	return history, lines.Err()
}

// Returns the requests by deposit. Deposits that one creation has made belong together: they are one deposit, or a
// violation. A creation without an answer belongs to the deposit that shows its content; without one it is left out.
func byDeposit(history []request) map[int][]request {
	deposits := newUnion()
	creators := map[string]string{} // the name of the creation by the mark that it brings
	for _, one := range history {
		if one.Kind == "create" {
			creators[one.mark()] = creationOf(one)
			if one.id() != 0 {
				deposits.join(creationOf(one), nameOf(one.id()))
			}
		}
	}
	for _, one := range history {
		for _, mark := range append(one.Shown.Archives, one.Shown.Entries...) {
			if creation, ok := creators[mark]; ok {
				deposits.join(creation, nameOf(one.id()))
			}
		}
	}
	parts := map[string][]request{}
	least := map[string]int{}
	for _, one := range history {
		name := creationOf(one)
		if one.id() != 0 {
			name = nameOf(one.id())
		}
		root := deposits.find(name)
		parts[root] = append(parts[root], one)
		if id := one.id(); id != 0 && (least[root] == 0 || id < least[root]) {
			least[root] = id
		}
	}
	found := map[int][]request{}
	for root, part := range parts {
		if least[root] != 0 {
			found[least[root]] = part
		}
	}
	return found
}

// Returns the ids of deposits in their order.
func sorted(deposits map[int][]request) []int {
	ids := make([]int, 0, len(deposits))
	for id := range deposits {
		ids = append(ids, id)
	}
	sort.Ints(ids)
	return ids
}

func creationOf(one request) string {
	if one.Key != "" {
		return "key " + one.Key
	}
	return "mark " + one.mark()
}

func nameOf(id int) string {
	return fmt.Sprintf("deposit %d", id)
}

// Disjoint sets of names.
type union struct{ parent map[string]string }

func newUnion() union { return union{map[string]string{}} }

func (u union) find(name string) string {
	for u.parent[name] != "" {
		name = u.parent[name]
	}
	return name
}

func (u union) join(one, other string) {
	if a, b := u.find(one), u.find(other); a != b {
		u.parent[a] = b
	}
}
