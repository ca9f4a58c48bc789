import { Button, Group, Stack, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState, type KeyboardEvent } from 'react';
import { api, unwrap } from '@/api/client';
import type { Question } from '@/api/types';
import { useText as useShellText } from '@/shell/text';
import { Dialog } from '@/ui/Dialog';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { PeoplePicker } from './PeoplePicker';
import { useText } from './text';

export type Tool = 'clarify' | 'discuss' | 'assign' | 'withdraw';

interface Props {
  tool: Tool;
  questions: readonly Question[];
  onClose: () => void;
  onDone: () => void;
}

/** What was typed and not sent, so that a dialog that is closed by accident loses nothing. */
const drafts = new Map<string, string>();

/** The dialog for asking the agent back, and for discussing, assigning or withdrawing questions. */
export function ToolForm({ tool, questions, onClose, onDone }: Props) {
  const text = useText();
  const shell = useShellText();
  const [who, setWho] = useState<readonly string[]>(questions.length === 1 ? (questions[0]?.assignees ?? []) : []);
  const place = `${tool} ${questions.map(({ id }) => id).join(' ')}`;
  const [words, setWords] = useState(drafts.get(place) ?? '');
  useEffect(() => void drafts.set(place, words), [place, words]);
  const send = useMutation({ mutationFn: async () => { for (const { id } of questions) await submitTool(tool, id, who, words); }, onSuccess: () => { drafts.delete(place); onDone(); } });
  const titles = { clarify: text.clarify, discuss: text.discuss, assign: text.assign, withdraw: text.withdraw };
  const sends = { clarify: text.clarifySend, discuss: text.discussSend, assign: text.assign, withdraw: text.withdraw };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send.mutate();
  };
  const field = { autosize: true, minRows: 3, maxRows: 14, value: words, onChange: (event: { currentTarget: { value: string } }) => setWords(event.currentTarget.value), onKeyDown };
  return (
    <Dialog opened onClose={onClose} title={titles[tool]}>
      <Stack component="form" onSubmit={(event) => { event.preventDefault(); send.mutate(); }}>
        {tool === 'assign' && <PeoplePicker question={questions[0]?.id ?? ''} value={who} onChange={setWho} />}
        {tool === 'clarify' && <Textarea data-autofocus label={text.clarifyLabel} description={text.clarifyHint} {...field} />}
        {tool === 'discuss' && <Textarea data-autofocus label={text.discussLabel} description={text.discussHint} {...field} />}
        {(tool === 'assign' || tool === 'withdraw') && <Textarea data-autofocus={tool === 'withdraw' || undefined} label={text.assignNote} {...field} minRows={1} />}
        {send.error && <ErrorAlert error={send.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>{shell.close}</Button>
          <Button type="submit" loading={send.isPending}>{sends[tool]}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function submitTool(tool: Tool, id: string, who: readonly string[], words: string): Promise<unknown> {
  const params = { path: { id } };
  switch (tool) {
    case 'clarify':
      return unwrap(api.POST('/v1/questions/{id}/clarify', { params, body: { body: words } }));
    case 'discuss':
      return unwrap(api.POST('/v1/questions/{id}/comments', { params, body: { body: words } }));
    case 'withdraw':
      return unwrap(api.POST('/v1/questions/{id}/cancel', { params, body: words ? { reason: words } : {} }));
    case 'assign':
      return unwrap(api.POST('/v1/questions/{id}/assign', { params, body: { assignees: [...who], ...(words ? { note: words } : {}) } }));
  }
}
