package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

const telegramAPI = "https://api.telegram.org/bot"

// maxReplyBytes is how many bytes of Telegram's response are read.
const maxReplyBytes = 64 << 10

// sendTelegram writes to every chat in a URL. The library only reads the URL
// here, because it treats a missing response as a success.
func sendTelegram(ctx context.Context, s types.Service, client *http.Client, t text) error {
	config := s.(*telegram.Service).GetConfig()
	for _, chat := range config.Chats {
		if err := postTelegram(ctx, client, config.Token, telegramMessage(config, chat, t)); err != nil {
			return err
		}
	}
	return nil
}

// telegramMessage returns the message for one chat. A chat may name a topic
// after a colon. The text is escaped completely, so nothing that an agent wrote
// is markup.
func telegramMessage(config *telegram.Config, chat string, t text) map[string]any {
	message := map[string]any{
		"text": fmt.Sprintf("<b>%s</b>\n%s", html.EscapeString(t.title), html.EscapeString(t.body)), "parse_mode": "HTML",
		"disable_notification": !config.Notification || t.weight == weightQuiet, "disable_web_page_preview": !config.Preview,
	}
	if isButtonURL(t.openURL) {
		message["reply_markup"] = map[string]any{"inline_keyboard": [][]map[string]string{{{"text": t.button, "url": t.openURL}}}}
	}
	id, topic, ok := strings.Cut(chat, ":")
	message["chat_id"] = id
	if n, err := strconv.Atoi(topic); ok && err == nil {
		message["message_thread_id"] = n
	}
	return message
}

// isButtonURL reports whether Telegram accepts an address for a button. It refuses
// the whole message if the host of the address has no dot.
func isButtonURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && strings.Contains(u.Hostname(), ".") && net.ParseIP(u.Hostname()) == nil
}

func postTelegram(ctx context.Context, client *http.Client, token string, message map[string]any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, telegramAPI+token+"/sendMessage", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	reply, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	var response struct {
		OK          bool   `json:"ok"`
		Description string `json:"description"`
	}
	err = json.NewDecoder(io.LimitReader(reply.Body, maxReplyBytes)).Decode(&response)
	switch {
	case response.OK && err == nil:
		return nil
	case response.Description != "":
		return errors.New(response.Description)
	default:
		return fmt.Errorf("status %d came back from Telegram", reply.StatusCode)
	}
}
