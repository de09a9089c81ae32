package main

import (
	"math"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// For the history of one deposit.
const timeLimit = 60 * time.Second

type verdict struct {
	Deposits   int         `json:"deposits"`
	Operations int         `json:"operations"`
	Unknown    int         `json:"unknown"`
	Stale      int         `json:"stale"`
	Violations []violation `json:"violations"`
	Undecided  []int       `json:"undecided"`
}

type violation struct {
	Deposit int    `json:"deposit"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}

// Checks the history of each deposit. `report` is called with each that is not linearizable.
func check(history []request, report func(id int, part []porcupine.Operation, info porcupine.LinearizationInfo) violation) verdict {
	deposits := byDeposit(history)
	found := verdict{Deposits: len(deposits), Operations: len(history), Violations: []violation{}, Undecided: []int{}}
	for _, one := range history {
		if one.isUnknown() {
			found.Unknown++
		}
	}
	for _, id := range sorted(deposits) {
		part := operationsOf(deposits[id])
		result, info := porcupine.CheckOperationsVerbose(depositModel, part, timeLimit)
		switch result {
		case porcupine.Ok:
			if isIllegal(strict(part)) {
				found.Stale += staleIn(info)
			}
		case porcupine.Illegal:
			found.Violations = append(found.Violations, report(id, part, info))
		default:
			found.Undecided = append(found.Undecided, id)
		}
	}
	return found
}

// Returns the operations of one deposit as the model knows them. Reads without an answer say nothing.
func operationsOf(requests []request) []porcupine.Operation {
	var operations []porcupine.Operation
	add := func(one request) {
		if one.isRead() && one.isUnknown() {
			return
		}
		operation := porcupine.Operation{ClientId: one.Client, Input: one, Call: one.Call, Return: one.Return}
		if one.isUnknown() {
			operation.Return = math.MaxInt64 // it may happen at any later time
		}
		operations = append(operations, operation)
	}
	for _, one := range requests {
		switch {
		case one.Code == 404 && !one.isRead() && one.Kind != "delete" && isDeletedDuring(one, requests):
			// It may have been carried out before the deletion: its answer is a read that found nothing.
			unknown, read := one, one
			unknown.Code = 0
			read.Kind = "receipt"
			add(unknown)
			add(read)
		case one.isDone() && !one.isRead() && one.Key == "" && one.Shown.Status != "":
			// What it shows may be later than its own change.
			read := one
			read.Kind, read.Deposit, read.IfMatch = "receipt", one.id(), nil
			read.MayLag = false
			add(one)
			add(read)
		default:
			add(one)
		}
	}
	return operations
}

func isDeletedDuring(one request, requests []request) bool {
	for _, other := range requests {
		isPossible := other.Kind == "delete" && (other.isDone() || other.isUnknown())
		if isPossible && other.Call <= one.Return && (other.isUnknown() || other.Return >= one.Call) {
			return true
		}
	}
	return false
}

// Counts the reads that show an earlier state, in the order that explains all operations.
func staleIn(info porcupine.LinearizationInfo) int {
	stale := 0
	for _, part := range info.PartialLinearizationsOperations() {
		for _, order := range part {
			d := deposit{}
			for i, operation := range order {
				if isPresent, _ := step(d, strict(order)[i].Input.(request)); !isPresent {
					stale++
				}
				_, d = step(d, operation.Input.(request))
			}
		}
	}
	return stale
}

// Returns the operations as if no node lagged behind the log.
func strict(operations []porcupine.Operation) []porcupine.Operation {
	strict := make([]porcupine.Operation, 0, len(operations))
	for _, operation := range operations {
		one := operation.Input.(request)
		one.MayLag = false
		operation.Input = one
		strict = append(strict, operation)
	}
	return strict
}

// Returns fewer operations that are not linearizable either: those until the contradiction, without the reads and
// refusals that do not matter.
func smallest(operations []porcupine.Operation) []porcupine.Operation {
	ends := make([]int64, 0, len(operations))
	for _, one := range operations {
		ends = append(ends, one.Return)
	}
	sort.Slice(ends, func(i, j int) bool { return ends[i] < ends[j] })
	end := sort.Search(len(ends)-1, func(i int) bool { return isIllegal(until(operations, ends[i])) })
	left := until(operations, ends[end])
	for i := len(left) - 1; i >= 0; i-- {
		if one := left[i].Input.(request); !one.isRead() && (one.isDone() || one.isUnknown()) {
			continue
		}
		without := append(append([]porcupine.Operation{}, left[:i]...), left[i+1:]...)
		if isIllegal(without) {
			left = without
		}
	}
	sort.SliceStable(left, func(i, j int) bool { return left[i].Call < left[j].Call })
	return left
}

// Returns the history as it was known at a time: what had no answer then may have happened or not.
func until(operations []porcupine.Operation, time int64) []porcupine.Operation {
	var known []porcupine.Operation
	for _, operation := range operations {
		one := operation.Input.(request)
		if operation.Call > time || (operation.Return > time && (one.isRead() || one.Code >= 400)) {
			continue
		}
		if operation.Return > time {
			one.Code, one.Shown = 0, shown{Deposit: one.Shown.Deposit}
			operation.Input, operation.Return = one, math.MaxInt64
		}
		known = append(known, operation)
	}
	return known
}

func isIllegal(operations []porcupine.Operation) bool {
	return porcupine.CheckOperationsTimeout(depositModel, operations, timeLimit) == porcupine.Illegal
}
