// Checks whether the history of each deposit is linearizable, by Porcupine. The history is a file of JSON lines, one
// request each. Prints a verdict as JSON, and writes a visualization of each violation.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anishathalye/porcupine"
)

func main() {
	folder := flag.String("html", ".", "the folder for visualizations of violations")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: linearizability [-html FOLDER] HISTORY")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file, folder string) error {
	input, err := os.Open(file)
	if err != nil {
		return err
	}
	defer input.Close()
	history, err := readHistory(input)
	if err != nil {
		return err
	}
	found := check(history, func(id int, part []porcupine.Operation, info porcupine.LinearizationInfo) violation {
		path := filepath.Join(folder, fmt.Sprintf("deposit-%d.html", id))
		if failed := porcupine.VisualizePath(depositModel, info, path); failed != nil {
			err = failed
		}
		return violation{Deposit: id, Text: describeAll(smallest(part)), HTML: path}
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}
