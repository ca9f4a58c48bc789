import { Alert, Box, Button, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useState, type MouseEvent, type ReactNode } from 'react';
import { useCommands } from '@/keys/useCommands';
import { selectedQuestionKey } from '@/offline/owner';
import { onUndone } from '@/question/held';
import { QuestionView } from '@/question/QuestionView';
import { questionQuery } from '@/question/queries';
import type { Question } from '@/api/types';
import { usePreference } from '@/shell/preferences';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { EmptyInbox } from './Empty';
import { isFiltered, type Filter } from './filter';
import { List } from './List';
import { OutboxStrip } from './OutboxStrip';
import { setOrder } from './order';
import { useText } from './text';
import classes from './Triage.module.css';
import { useInbox } from './useInbox';

interface Props {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  /** Called with the number of questions in the list that wait, and whether there are more. It is undefined until the list is read. */
  onFound?: (found: { n: number; more: boolean } | undefined) => void;
  /** Content above the list. */
  tools?: ReactNode;
  /** Content above the list that belongs to the selected question. */
  above?: (question: Question, questions: Question[]) => ReactNode;
}

/** Shows a list of questions and the selected question. */
export function Triage({ filter, onFilter, onFound, tools, above }: Props) {
  const text = useText();
  const navigate = useNavigate();
  const wide = useMediaQuery('(min-width: 1100px)', true, { getInitialValueInEffect: false });
  const [order] = usePreference('inboxOrder');
  const inbox = useInbox(filter, order);
  const { questions, gone } = inbox;
  const [selected, setSelected] = useState<string | undefined>(() => sessionStorage.getItem(selectedQuestionKey) ?? undefined);
  const [decided, setDecided] = useState(false);
  const at = questions.findIndex((question) => question.id === selected);
  const current = questions[at] ?? questions.find((question) => question.status === 'pending' && !gone.has(question.id));
  const select = useCallback((question: Question | undefined) => {
    setSelected(question?.id);
    if (question) sessionStorage.setItem(selectedQuestionKey, question.id);
  }, []);
  useEffect(() => setOrder(questions.map((question) => question.id)), [questions]);
  useEffect(() => onUndone((id) => setSelected(id)), []);

  const move = (by: number) => {
    const from = wide || at >= 0 ? questions.indexOf(current as Question) : -1;
    const to = questions[Math.max(0, Math.min(questions.length - 1, from < 0 ? 0 : from + by))];
    setDecided(false);
    select(to);
    if (!wide && to) requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-row="${CSS.escape(to.id)}"]`)?.focus({ preventScroll: true }));
  };
  /** Selects the next waiting question: first from here down, then from the top. */
  const selectNext = (answered: Question) => {
    const from = questions.indexOf(answered);
    const waits = (question: Question) => question !== answered && question.status === 'pending' && !question.held && !gone.has(question.id);
    setDecided(true);
    select(questions.slice(from + 1).find(waits) ?? questions.slice(0, from).find(waits));
  };
  const open = useCallback((id: string, event: MouseEvent) => {
    if (!wide || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    setDecided(false);
    setSelected(id);
    sessionStorage.setItem(selectedQuestionKey, id);
  }, [wide]);
  useCommands([
    { id: 'next', title: text.next, group: text.group, keys: ['j', 'ArrowDown'], run: () => move(1) },
    { id: 'previous', title: text.previous, group: text.group, keys: ['k', 'ArrowUp'], run: () => move(-1) },
    { id: 'first', title: text.first, group: text.group, keys: ['Home'], run: () => move(-Infinity) },
    { id: 'last', title: text.last, group: text.group, keys: ['End'], run: () => move(Infinity) },
    { id: 'open', title: text.open, group: text.group, keys: ['o'], run: () => current && void navigate({ to: '/questions/$id', params: { id: current.id } }) },
    { id: 'show-new', title: text.showNew, group: text.group, keys: ['.'], run: () => void inbox.refresh() },
  ]);

  const waiting = questions.filter((question) => question.status === 'pending' && !gone.has(question.id)).length;
  const { loading, more } = inbox;
  useEffect(() => onFound?.(loading ? undefined : { n: waiting, more }), [loading, more, onFound, waiting]);
  return (
    <Box className={classes.triage}>
      <OutboxStrip />
      {tools}
      <div role="status" className={classes.fresh}>
        {inbox.fresh.count > 0 && <Button fullWidth variant="light" size="compact-md" onClick={() => void inbox.refresh()}>{text.newer(inbox.fresh.count, inbox.fresh.more)}</Button>}
      </div>
      {current && !inbox.loading && above?.(current, questions.filter((question) => !gone.has(question.id)))}
      {inbox.isStored && <Alert mb="sm" color="orange" role="status">{text.offline}</Alert>}
      {inbox.error ? <ErrorAlert error={inbox.error} onRetry={() => void inbox.refresh()} /> : inbox.loading ? <Loading /> : waiting === 0 && !(wide && current) ? (
        <EmptyInbox filtered={isFiltered(filter)} onClear={() => onFilter({})} />
      ) : (
        <div className={classes.panes}>
          <div className={classes.list}>
            <List key={order} questions={questions} gone={gone} order={order} selected={wide ? current?.id : selected} more={inbox.more} onMore={inbox.loadMore} onOpen={open} />
          </div>
          {wide && (
            <section className={classes.detail} aria-label={current?.title ?? text.choose} tabIndex={0}>
              {current ? <Detail key={current.id} question={current} focus={decided} onSent={() => selectNext(current)} /> : <Text c="dimmed" p="xl">{text.choose}</Text>}
            </section>
          )}
        </div>
      )}
    </Box>
  );
}

/** Shows the current state of a question. Until it is read, the copy of the list is shown. */
function Detail({ question, focus, onSent }: { question: Question; focus: boolean; onSent: () => void }) {
  const { data } = useQuery({ ...questionQuery(question.id), placeholderData: question });
  return <QuestionView question={data ?? question} focus={focus} onSent={onSent} />;
}
