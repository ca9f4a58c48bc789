import { Alert, Button, Checkbox, Group, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { Suspense, useEffect, useMemo, useRef, useState } from 'react';
import type { Question } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { ActionText, useEndSeen } from '@/preview/Action';
import { Code } from '@/preview/Code';
import { readableOf } from '@/preview/shape';
import barClasses from '@/question/AnswerForm.module.css';
import { RiskText } from '@/question/Badges';
import { Countdown } from '@/question/Countdown';
import { factsOf } from '@/question/facts';
import { suggestion, textOf } from '@/question/item';
import { useText as useQuestionText } from '@/question/text';
import { Visible } from '@/text/Visible';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Icon } from '@/ui/Icon';
import { IconButton } from '@/ui/IconButton';
import { KeyCap } from '@/ui/KeyCap';
import { lazyComponent } from '@/ui/lazyComponent';
import wrappingButton from '@/ui/WrappingButton.module.css';
import { canJoin } from './alike';
import classes from './Lot.module.css';
import { answerLot, lotChoices, type LotChoice, type LotFaults } from './answerLot';
import { useLotText } from './lotText';

const SnoozeDialog = lazyComponent(() => import('@/question/SnoozeDialog').then((module) => module.SnoozeDialog));
const ToolForm = lazyComponent(() => import('@/question/ToolForm').then((module) => module.ToolForm));

interface Props {
  questions: Question[];
  /** Whether the heading takes the focus when the lot appears. */
  focus?: boolean;
  /** Shows the questions of an alike row singly, if the lot is such a row. */
  onSingly?: () => void;
  /** Leaves the lot, if the reader has chosen it. */
  onClear?: () => void;
  /** Called when all that could be decided is on its way. */
  onDecided: () => void;
  /** Called when some were decided and others were not. The lot must stay, because it says why. */
  onPartly: () => void;
  /** Called when the questions went to other people or were put off. */
  onMoved: () => void;
}

/** Shows several questions, each with all of its action, and answers, snoozes or assigns them together. */
export function Lot({ questions, focus, onSingly, onClear, onDecided, onPartly, onMoved }: Props) {
  const text = useLotText();
  const words = useQuestionText();
  const [out, setOut] = useState<ReadonlySet<string>>(new Set());
  const [faults, setFaults] = useState<LotFaults>(new Map());
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const [sureOf, setSure] = useState<string>();
  /** The lot whose end was on the screen. A lot to which a question is added has another end. */
  const [seen, setSeen] = useState<string>();
  const [tool, setTool] = useState<'snooze' | 'assign'>();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (focus) heading.current?.focus({ preventScroll: true });
  }, [focus]);
  const open = questions.filter(({ id, status, held }) => status === 'pending' && !held && !out.has(id) && !decided.has(id));
  const joining = open.filter((question) => canJoin(question) && !faults.has(question.id));
  const alone = open.filter((question) => !canJoin(question));
  const labelOf = ({ id, label, answers }: LotChoice) => (id === 'suggestions' ? text.suggestions(answers.length) : text.each(label, answers.length));
  const choices = lotChoices(joining, words);
  const sure = choices.find(({ id }) => id === sureOf);
  const all = questions.map(({ id }) => id).join(' ');
  const blocked = sure?.approves === true && seen !== all;
  const shared = useMemo(() => sharedRest(questions), [questions]);
  const decide = useMutation({
    mutationFn: (choice: LotChoice) => answerLot(choice, choice.id === 'suggestions' ? labelOf(choice) : choice.label, text.title, text.wrongHash),
    onSuccess: (found, choice) => {
      const done = choice.answers.filter(({ question }) => !found.has(question.id));
      setFaults(new Map([...faults, ...found]));
      setDecided(new Set([...decided, ...done.map(({ question }) => question.id)]));
      if (done.length === open.length) onDecided();
      else onPartly();
    },
    onSettled: () => setSure(undefined),
  });
  const press = (choice: LotChoice) => !decide.isPending && setSure(choice.id);
  const confirm = () => sure && !blocked && !decide.isPending && decide.mutate(sure);
  const toggle = (id: string) => {
    setSure(undefined);
    setOut((before) => (before.has(id) ? new Set([...before].filter((each) => each !== id)) : new Set([...before, id])));
  };
  const group = text.group;
  useCommands(sure ? [
    { id: 'confirm', title: labelOf(sure), group, keys: ['Enter'], run: confirm },
    { id: 'not-yet', title: words.confirmNo, group, keys: ['Escape'], run: () => setSure(undefined) },
  ] : [
    ...choices.map((choice) => ({ id: choice.id, title: labelOf(choice), group, keys: choice.keys, run: () => press(choice) })),
    { id: 'snooze', title: words.snooze, group, keys: ['h'], run: () => setTool('snooze') },
    { id: 'assign', title: words.assign, group, keys: ['s'], run: () => setTool('assign') },
  ]);
  const moved = () => {
    setTool(undefined);
    onMoved();
  };
  return (
    <Stack gap="md" className={classes.lot} data-question>
      <div>
        <Group justify="space-between">
          <Title order={2} size="h3" ref={heading} tabIndex={-1} className={classes.title}>{text.title(open.length)}</Title>
          <Group gap={2}>
            <IconButton icon="person" label={words.assign} keys="s" onClick={() => setTool('assign')} />
            <IconButton icon="moon" label={words.snooze} keys="h" onClick={() => setTool('snooze')} />
            {onClear && <IconButton icon="cross" label={text.clear} keys="Esc" onClick={onClear} />}
          </Group>
        </Group>
        <Text size="sm" c="dimmed">{choices.length > 0 ? text.intro : text.noChoice}</Text>
        {onSingly && <Button variant="default" size="compact-sm" mt="xs" onClick={onSingly}>{text.singly}</Button>}
        {shared && <><Text size="xs" fw={600} mt="xs">{text.all}</Text><Code text={shared} strict label={text.all} /></>}
        {alone.length > 0 && <Text size="sm" mt="xs">{text.alone(alone.length)}</Text>}
      </div>
      {questions.map((question) => <Part key={question.id} question={question} isIn={!out.has(question.id)} isOpen={open.includes(question) || out.has(question.id)} isDecided={decided.has(question.id)} shownRest={shared} fault={faults.get(question.id)} onToggle={() => toggle(question.id)} />)}
      <EndMark key={all} onSeen={() => setSeen(all)} />
      {decide.error && <ErrorAlert error={decide.error} />}
      {choices.length > 0 && (
        <section aria-label={words.theAnswer} className={barClasses.bar} data-answer-bar>
          {sure ? <Sure choice={sure} label={labelOf(sure)} blocked={blocked} busy={decide.isPending} onConfirm={confirm} onLeave={() => setSure(undefined)} /> : (
            <div className={barClasses.choices}>
              {choices.map((choice) => (
                <Button
                  key={choice.id} data-choice size="md" variant={choice.approves ? 'filled' : 'default'} color={choice.approves ? '#1d6b31' : undefined} loading={decide.isPending}
                  leftSection={choice.id === 'approve' || choice.id === 'reject' ? <Icon name={choice.approves ? 'check' : 'cross'} /> : undefined}
                  rightSection={<KeyCap>{choice.keys[0] === 'Enter' ? '↵' : (choice.keys[0] ?? '')}</KeyCap>} classNames={wrappingButton} onClick={() => press(choice)}
                >
                  {labelOf(choice)}
                </Button>
              ))}
            </div>
          )}
        </section>
      )}
      <Suspense>
        {tool === 'snooze' && <SnoozeDialog questions={open} onClose={() => setTool(undefined)} onDone={() => { notifications.show({ title: text.snoozed(open.length), message: text.snoozedWhere }); moved(); }} />}
        {tool === 'assign' && <ToolForm tool="assign" questions={open} onClose={() => setTool(undefined)} onDone={moved} />}
      </Suspense>
    </Stack>
  );
}

/** Returns the fields that all actions have besides what they do, or undefined if they differ. */
function sharedRest(questions: Question[]): string | undefined {
  const rests = new Set(questions.map(({ action_text: action }) => (action === undefined ? undefined : readableOf(action).rest)));
  const [rest] = rests;
  return questions.length > 1 && rests.size === 1 ? rest : undefined;
}

/** Shows one question of a lot, what it would do, and why it was not decided. */
function Part({ question, isIn, isOpen, isDecided, shownRest, fault, onToggle }: { question: Question; isIn: boolean; isOpen: boolean; isDecided: boolean; shownRest?: string; fault?: string; onToggle: () => void }) {
  const text = useLotText();
  const words = useQuestionText();
  const [item] = question.items;
  const suggested = item && item.response_type !== 'approval' ? suggestion(item) : undefined;
  return (
    <div className={classes.part}>
      <Checkbox checked={isIn && isOpen} disabled={!isOpen || fault !== undefined} onChange={onToggle} label={<Visible text={question.title} />} />
      <Group gap={6}>
        {isDecided && <Text size="xs" fw={600} role="status"><Icon name="check" size={12} /> {text.decided}</Text>}
        {!isDecided && question.status !== 'pending' && <Text size="xs" fw={600} role="status">{words[`status_${question.status}`]}</Text>}
        <RiskText risk={question.risk} />
        {question.deadline && <Countdown question={question} brief />}
        <Text size="xs" c="dimmed"><Visible text={factsOf(question, words)} /></Text>
        {suggested !== undefined && <Text size="xs">{text.suggestion(textOf(item, suggested, words))}</Text>}
      </Group>
      {fault !== undefined && <Text size="sm" c="error" role="status">{text.notDecided}: <Visible text={fault} /></Text>}
      {question.action_text !== undefined && <ActionText action={question.action_text} label={question.title} shownRest={shownRest} />}
    </div>
  );
}

/** Calls onSeen once the end of the lot has been on the screen. */
function EndMark({ onSeen }: { onSeen: () => void }) {
  return <div ref={useEndSeen(onSeen)} />;
}

/** Asks for a second press before questions are answered together. Actions are approved only after the last one was on the screen. */
function Sure({ choice, label, blocked, busy, onConfirm, onLeave }: { choice: LotChoice; label: string; blocked: boolean; busy: boolean; onConfirm: () => void; onLeave: () => void }) {
  const text = useLotText();
  const words = useQuestionText();
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  // While the reader still reads, no button has the focus, so that Space scrolls.
  useEffect(() => box.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    if (!blocked) button.current?.focus({ preventScroll: true });
  }, [blocked]);
  return (
    <Alert ref={box} tabIndex={-1} color="orange" role="alertdialog" aria-label={text.sure(choice.answers.length)} title={text.sure(choice.answers.length)}>
      {blocked && <Text size="sm" mb="xs">{words.confirmScroll}</Text>}
      <Group>
        <Button ref={button} disabled={blocked} loading={busy} onClick={onConfirm} classNames={wrappingButton}>{text.confirm(label)}</Button>
        <Button variant="default" onClick={onLeave}>{words.confirmNo}</Button>
      </Group>
    </Alert>
  );
}
