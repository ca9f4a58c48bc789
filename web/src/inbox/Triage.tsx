import { Alert, Box, Button, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Suspense, useCallback, useEffect, useMemo, useState, type MouseEvent, type ReactNode } from 'react';
import { useCommands } from '@/keys/useCommands';
import { selectedQuestionKey } from '@/offline/owner';
import { onUndone } from '@/question/held';
import { QuestionView } from '@/question/QuestionView';
import { questionQuery } from '@/question/queries';
import type { Question } from '@/api/types';
import { usePreference } from '@/shell/preferences';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { lazyComponent } from '@/ui/lazyComponent';
import { Loading } from '@/ui/Loading';
import { questionsOf, type Row } from './alike';
import { ChosenBar } from './ChosenBar';
import { EmptyInbox } from './Empty';
import { isFiltered, type Filter } from './filter';
import { KindOffer } from './KindOffer';
import { List } from './List';
import { useLotText } from './lotText';
import { OutboxStrip } from './OutboxStrip';
import { setOrder } from './order';
import { sectionsOf } from './sections';
import { useText } from './text';
import classes from './Triage.module.css';
import { useChosen } from './useChosen';
import { useInbox } from './useInbox';

const Lot = lazyComponent(() => import('./Lot').then((module) => module.Lot));

interface Props {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  /** Called with the number of questions in the list that wait, and whether there are more. It is undefined until the list is read. */
  onFound?: (found: { n: number; more: boolean } | undefined) => void;
  /** Content above the list. */
  tools?: ReactNode;
}

/** Shows a list of questions, and beside it the selected question or all that the reader has chosen to treat together. */
export function Triage({ filter, onFilter, onFound, tools }: Props) {
  const text = useText();
  const lotText = useLotText();
  const navigate = useNavigate();
  const wide = useMediaQuery('(min-width: 1100px)', true, { getInitialValueInEffect: false });
  const [order] = usePreference('inboxOrder');
  const inbox = useInbox(filter, order);
  const { questions, gone } = inbox;
  const [selected, setSelected] = useState<string | undefined>(() => sessionStorage.getItem(selectedQuestionKey) ?? undefined);
  const [decided, setDecided] = useState(false);
  const [singly, setSingly] = useState<ReadonlySet<string>>(new Set());
  /** Whether what is chosen covers the list, on a screen that has no room beside it. */
  const [lotOpen, setLotOpen] = useState(false);
  const sections = useMemo(() => sectionsOf(questions, order, singly), [questions, order, singly]);
  const rows = useMemo(() => sections.flatMap((section) => section.rows), [sections]);
  const { chosen, ids, choose, chooseAll, clear } = useChosen(rows, questions);
  const waits = useCallback((question: Question) => question.status === 'pending' && !question.held && !gone.has(question.id), [gone]);
  const selectedRow = rows.find((row) => questionsOf(row).some((question) => question.id === selected));
  const row = selectedRow ?? rows.find((each) => questionsOf(each).some(waits));
  const current = row?.question;
  const select = useCallback((question: Question | undefined) => {
    setSelected(question?.id);
    if (question) sessionStorage.setItem(selectedQuestionKey, question.id);
  }, []);
  useEffect(() => setOrder(questions.map((question) => question.id)), [questions]);
  useEffect(() => onUndone((id) => setSelected(id)), []);

  const move = (by: number) => {
    const from = row && (wide || selectedRow) ? rows.indexOf(row) : -1;
    const to = rows[Math.max(0, Math.min(rows.length - 1, from < 0 ? 0 : from + by))];
    setDecided(false);
    select(to?.question);
    if (!wide && to) requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-row="${CSS.escape(to.question.id)}"]`)?.focus({ preventScroll: true }));
    return to;
  };
  /** Selects the next row that waits, first from here down, then from the top. */
  const selectNext = (answered: readonly Question[]) => {
    const from = row ? rows.indexOf(row) : 0;
    const isNext = (each: Row) => questionsOf(each).some((question) => waits(question) && !answered.includes(question));
    setDecided(true);
    select((rows.slice(from + 1).find(isNext) ?? rows.slice(0, from + 1).find(isNext))?.question);
  };
  /** Chooses this row and the one to which the reader goes. */
  const extend = (by: number) => {
    if (row && ids.size === 0) choose(row, false);
    const to = move(by);
    if (to) choose(to, true);
  };
  const open = useCallback((to: Row, event: MouseEvent) => {
    if (event.shiftKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      choose(to, true);
      return;
    }
    const isLot = to.alike !== undefined && to.alike.some(waits);
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (!wide && !isLot) {
      void navigate({ to: '/questions/$id', params: { id: to.question.id } });
      return;
    }
    setDecided(false);
    select(to.question);
    if (wide || !to.alike) clear();
    else {
      chooseAll(to.alike);
      setLotOpen(true);
    }
  }, [wide, choose, chooseAll, clear, select, waits, navigate]);
  const leaveLot = () => {
    clear();
    setLotOpen(false);
  };
  useCommands([{ id: 'clear', title: lotText.clear, group: text.group, keys: ['Escape'], run: leaveLot }], ids.size > 0);
  useCommands([
    { id: 'next', title: text.next, group: text.group, keys: ['j', 'ArrowDown'], run: () => move(1) },
    { id: 'previous', title: text.previous, group: text.group, keys: ['k', 'ArrowUp'], run: () => move(-1) },
    { id: 'first', title: text.first, group: text.group, keys: ['Home'], run: () => move(-Infinity) },
    { id: 'last', title: text.last, group: text.group, keys: ['End'], run: () => move(Infinity) },
    { id: 'open', title: text.open, group: text.group, keys: ['o'], run: () => current && void navigate({ to: '/questions/$id', params: { id: current.id } }) },
    { id: 'choose', title: text.chooseThis, group: text.group, keys: ['x'], run: () => row && choose(row, false) },
    { id: 'choose-next', title: text.chooseNext, group: text.group, keys: ['J', 'shift+ArrowDown'], run: () => extend(1) },
    { id: 'choose-previous', title: text.choosePrevious, group: text.group, keys: ['K', 'shift+ArrowUp'], run: () => extend(-1) },
    { id: 'show-new', title: text.showNew, group: text.group, keys: ['.'], run: () => void inbox.refresh() },
  ]);

  const isAlike = wide && chosen.length < 2 && row?.alike?.some(waits) === true;
  const lot = isAlike ? (row.alike ?? []) : chosen;
  const lotView = (
    <Lot
      key={lot[0]?.id} questions={lot} focus={decided} onClear={isAlike ? undefined : leaveLot}
      onSingly={isAlike ? () => setSingly(new Set([...singly, row.question.title])) : undefined}
      onDecided={() => { selectNext(lot); leaveLot(); }} onPartly={() => chooseAll(lot)} onMoved={() => { leaveLot(); void inbox.refresh(); }}
    />
  );
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
      {inbox.isStored && <Alert mb="sm" color="orange" role="status">{text.offline}</Alert>}
      {inbox.error ? <ErrorAlert error={inbox.error} onRetry={() => void inbox.refresh()} /> : inbox.loading ? <Loading /> : waiting === 0 && !(wide && current) ? (
        <EmptyInbox filtered={isFiltered(filter)} onClear={() => onFilter({})} />
      ) : (
        <div className={classes.panes}>
          <div className={classes.list}>
            <List
              key={order} sections={sections} gone={gone} order={order} selected={wide || selectedRow ? row : undefined} chosen={ids} more={inbox.more} onMore={inbox.loadMore}
              onOpen={open} onChoose={choose}
            />
          </div>
          {wide && (
            <section className={classes.detail} aria-label={lot.length > 1 ? lotText.title(lot.length) : (current?.title ?? text.choose)} tabIndex={0}>
              {lot.length > 1 ? <Suspense fallback={<Loading />}>{lotView}</Suspense> : current ? (
                <Detail key={current.id} question={current} focus={decided} onSent={() => selectNext([current])}>
                  <KindOffer question={current} questions={questions.filter(waits)} onOpen={chooseAll} />
                </Detail>
              ) : <Text c="dimmed" p="xl">{text.choose}</Text>}
            </section>
          )}
        </div>
      )}
      {!wide && chosen.length > 0 && <ChosenBar n={chosen.length} open={lotOpen} onOpen={setLotOpen} onClear={leaveLot}>{lotView}</ChosenBar>}
    </Box>
  );
}

/** Shows the current state of a question. Until it is read, the copy of the list is shown. */
function Detail({ question, focus, onSent, children }: { question: Question; focus: boolean; onSent: () => void; children: ReactNode }) {
  const { data } = useQuery({ ...questionQuery(question.id), placeholderData: question });
  return <QuestionView question={data ?? question} focus={focus} onSent={onSent}>{children}</QuestionView>;
}
