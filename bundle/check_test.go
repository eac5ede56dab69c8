package bundle

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// eachByte is the size up to which every byte of a file is damaged; of a larger one some are, and the last ones.
const (
	eachByte = 300
	someOf   = 30
)

// Every cut and every flipped bit of every file is found (F7).
func TestCheckFindsEveryDamage(t *testing.T) {
	dir := kept(t, fixture(8, 40))
	r := rand.New(rand.NewPCG(8, 8))
	names, damaged := filesOf(t, dir), 0
	if len(names) != 9 {
		t.Fatalf("files %q, want nine", names)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range places(r, len(whole)) {
			flipped := append([]byte(nil), whole...)
			flipped[at] ^= 1 << r.IntN(8)
			for what, bytes := range map[string][]byte{"cut at": whole[:at], "a bit flipped in": flipped} {
				if err := os.WriteFile(path, bytes, 0o600); err != nil {
					t.Fatal(err)
				}
				if damaged++; !errors.Is(Check(dir), ErrDamaged) {
					t.Errorf("%s %s byte %d of %d: Check = %v, want ErrDamaged", name, what, at, len(whole), Check(dir))
				}
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Check(dir); err != nil {
		t.Errorf("the restored directory: %v, so the damages prove nothing", err)
	}
	t.Logf("%d damages, all found", damaged)
}

// places are the bytes of a file that are damaged.
func places(r *rand.Rand, size int) []int {
	var all []int
	for at := range size {
		if size <= eachByte || at >= size-someOf/2 || r.IntN(size) < someOf/2 {
			all = append(all, at)
		}
	}
	return all
}

func filesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// The list of checksums is one that the ordinary tool reads, over every other file.
func TestSha256sumAgrees(t *testing.T) {
	tool, err := exec.LookPath("sha256sum")
	if err != nil {
		t.Skip("no sha256sum here")
	}
	dir := kept(t, fixture(9, 20))
	cmd := exec.CommandContext(t.Context(), tool, "-c", "--strict", Sums)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if n := strings.Count(string(out), ": OK\n"); err != nil || n != len(filesOf(t, dir))-1 || !strings.Contains(string(out), "run.json: OK") {
		t.Errorf("%v:\n%s\nwant OK for every file but the list", err, out)
	}
}
