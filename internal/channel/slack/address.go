package slack

import (
	"encoding/json"
	"strings"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata/internal/notice"
)

// address says which question a message is about, and for which person. It is
// stored in the id of a block, which only this app can set. The block stays
// when the buttons of the message are removed. For a reply in the thread, the
// channel reads the address from the first message.
type address struct {
	question, delivery, reply string
	stage                     stage
}

// stage is the purpose of a message.
type stage string

const (
	// stageDecide marks a message that shows everything that the decision is
	// about. stageOpen marks one that leads to the question's page. stageClosed
	// marks one that says how the question ended. stageMoved marks one that was
	// replaced by a new message: the person answers there.
	stageDecide stage = "decide"
	stageOpen   stage = "open"
	stageClosed stage = "closed"
	stageMoved  stage = "moved"
)

const addressMark = "fermata1"

func addressOf(n *notice.Notice) address {
	return address{question: n.Question.ID, delivery: n.Delivery, reply: n.Reply, stage: stageOpen}
}

func (a address) blockID() string {
	id := strings.Join([]string{addressMark, string(a.stage), a.question, a.delivery, a.reply}, "|")
	if len(id) > maxBlockID {
		id = strings.Join([]string{addressMark, string(a.stage), a.question, a.delivery, ""}, "|")
	}
	return id
}

func readAddress(blockID string) (address, bool) {
	parts := strings.Split(blockID, "|")
	if len(parts) != 5 || parts[0] != addressMark {
		return address{}, false
	}
	return address{stage: stage(parts[1]), question: parts[2], delivery: parts[3], reply: parts[4]}, true
}

// findAddress finds the address in the blocks of a message.
func findAddress(blocks api.Blocks) (address, bool) {
	for _, b := range blocks.BlockSet {
		if a, ok := readAddress(b.ID()); ok {
			return a, true
		}
	}
	return address{}, false
}

// buttonValue is the value of a button: the question, and the answer that a press
// gives.
type buttonValue struct {
	Question string `json:"q"`
	Delivery string `json:"d,omitempty"`
	Reply    string `json:"r,omitempty"`
	// Key is the key of the item. Value is its answer.
	Key   string `json:"k,omitempty"`
	Value any    `json:"v,omitempty"`
	// Hash is the hash of the action that the message showed.
	Hash string `json:"h,omitempty"`
}

func (v buttonValue) encode() string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

func readButtonValue(value string) (buttonValue, bool) {
	var p buttonValue
	err := json.Unmarshal([]byte(value), &p)
	return p, err == nil && p.Question != ""
}
