import { Alert, Button, Group, Paper, Progress, Stack, Text, Textarea } from '@mantine/core';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Item, Question } from '@/api/types';
import type { Command } from '@/keys/registry';
import { useCommands } from '@/keys/useCommands';
import type { HashCheck } from '@/preview/Action';
import { Does } from '@/preview/ShapeView';
import { readableOf, subjectOf } from '@/preview/shape';
import { stoppedByDevice } from '@/sign-in/passkey';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { IconButton } from '@/ui/IconButton';
import { KeyCap } from '@/ui/KeyCap';
import wrappingButton from '@/ui/WrappingButton.module.css';
import barClasses from './AnswerForm.module.css';
import classes from './ItemField.module.css';
import { EditAction } from './EditAction';
import { ItemField, Prompt } from './ItemField';
import { keyOf, optionsOf, picksDanger, suggestion, textOf, type Value, type Values } from './item';
import { DecisionMismatch } from './sign';
import { useText } from './text';
import type { AnswerState, ConfirmReason } from './useAnswer';

interface Props {
  question: Question;
  answer: AnswerState;
  hashCheck: HashCheck;
  /** Whether the end of the action has been on the screen. */
  seen: boolean;
  /** Whether the answer comes after the deadline. */
  late?: boolean;
}

/** The fields in which a question is answered, at once or item by item, and the bar with the choices. */
export function AnswerForm(props: Props) {
  const { question, answer } = props;
  const text = useText();
  const [at, setAt] = useState(0);
  const [comments, setComments] = useState(answer.comment !== '');
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const comment = useRef<HTMLTextAreaElement>(null);
  const several = question.items.length > 1;
  const reviewing = several && at === question.items.length;
  const item = question.items[at];
  const mayEdit = !answer.doubt && item?.response_type === 'approval' && question.action_text !== undefined && (question.approvals?.required ?? 1) < 2;
  const prompted = several || item?.prompt !== question.title;

  const move = (to: number) => {
    setAt(Math.max(0, Math.min(to, question.items.length)));
    answer.setDoubt(undefined);
  };
  /** Records a value. The value of a single item sends the answer; one of several items leads to the next step. */
  const decide = (given: Item, value: Value) => {
    const values = { ...answer.values, [keyOf(given)]: value };
    answer.change(keyOf(given), value);
    if (several) move(at + 1);
    else answer.submit(values, { restart: props.late });
  };
  const proceed = () => {
    if (reviewing) {
      if (answer.submit(answer.values, { restart: props.late })) return;
      const wrong = question.items.findIndex((each) => answer.check(answer.values)[keyOf(each)]);
      if (wrong >= 0) move(wrong);
      return;
    }
    if (!item) return;
    const value = answer.complete(answer.values)[keyOf(item)];
    const suggested = suggestion(item);
    const empty = value === undefined || value === '';
    if (empty && suggested !== undefined && !picksDanger(item, suggested)) decide(item, suggested);
    else if (empty && field.current && document.activeElement !== field.current) field.current.focus();
    else if (!several) answer.submit(answer.values, { restart: props.late });
    else if (!answer.check(answer.values)[keyOf(item)]) move(at + 1);
    else answer.submit(answer.values);
  };
  const pick = (number: number) => {
    const option = item && optionsOf(item)[number - 1];
    if (!item || !option) return;
    if (item.response_type === 'choice') decide(item, option.value);
    if (item.response_type !== 'multi_choice') return;
    const value = answer.values[keyOf(item)];
    const picked = Array.isArray(value) ? value : [];
    answer.change(keyOf(item), picked.includes(option.value) ? picked.filter((each) => each !== option.value) : [...picked, option.value]);
  };
  const confirm = () => answer.doubt && answer.submit(answer.doubt.values, { confirmed: true, restart: props.late });
  const blocked = answer.doubt !== undefined && question.action_text !== undefined && !props.seen;

  const group = text.group;
  const commands: Command[] = answer.doubt ? [
    { id: 'confirm', title: text.answer, group, keys: ['Enter'], run: () => !blocked && confirm() },
    { id: 'not-yet', title: text.confirmNo, group, keys: ['Escape'], run: () => answer.setDoubt(undefined) },
  ] : [
    ...(item?.response_type === 'approval' ? [
      ...(props.hashCheck === 'differs' ? [] : [{ id: 'approve', title: text.approve, group, keys: ['a', 'y'], run: () => decide(item, 'approve') }]),
      { id: 'reject', title: text.reject, group, keys: ['r', 'n'], run: () => decide(item, 'reject') },
    ] : [
      { id: 'proceed', title: text.keyDefault, group, keys: ['Enter'], run: () => proceed() },
    ]),
    ...(item?.response_type === 'boolean' ? [
      { id: 'yes', title: text.yes, group, keys: ['y'], run: () => decide(item, true) },
      { id: 'no', title: text.no, group, keys: ['n'], run: () => decide(item, false) },
    ] : []),
    ...optionsOf(item).slice(0, 9).map((_, n) => ({ id: `option-${n + 1}`, title: text.keyOption(n + 1), group, keys: [String(n + 1)], run: () => pick(n + 1), hidden: n > 0 })),
    { id: 'send', title: text.answer, group, keys: ['mod+Enter'], run: () => proceed(), typing: true },
    ...(several && at > 0 ? [{ id: 'step-back', title: text.keyPrevious, group, keys: ['ArrowLeft', '['], run: () => move(at - 1) }] : []),
    { id: 'comment', title: text.addComment, group, keys: ['c'], run: () => setComments(true) },
  ];
  useCommands(commands, !answer.sending);
  useEffect(() => {
    if (comments && answer.comment === '') comment.current?.focus();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only when it opens
  }, [comments]);

  const isDecision = item?.response_type === 'approval' || item?.response_type === 'boolean';
  const hasFields = several || reviewing || prompted || !isDecision;
  const editing = mayEdit && answer.action !== undefined;
  return (
    <>
      {(hasFields || editing) && (
        <Paper withBorder p="md">
          <Stack gap="md" component="form" onSubmit={(event) => { event.preventDefault(); proceed(); }}>
            {several && (
              <div>
                <Text size="sm" c="dimmed">{reviewing ? text.review : text.stepOf(at + 1, question.items.length)}</Text>
                <Progress value={(at / question.items.length) * 100} size="sm" aria-label={reviewing ? text.review : text.stepOf(at + 1, question.items.length)} />
              </div>
            )}
            {reviewing ? (
              <Review question={question} values={answer.complete(answer.values)} onChange={move} />
            ) : item && hasFields && (
              <Stack gap="sm" key={keyOf(item)}>
                {prompted && <Prompt item={item} />}
                <ItemField
                  item={item} label={item.prompt} field={field} value={answer.values[keyOf(item)]} other={answer.other[keyOf(item)]} error={answer.faults[keyOf(item)]}
                  onChange={(value) => answer.change(keyOf(item), value)} onOther={(words) => answer.changeOther(keyOf(item), words)}
                />
              </Stack>
            )}
            {editing && <EditAction question={question} answer={answer} />}
          </Stack>
        </Paper>
      )}
      <section aria-label={text.theAnswer} className={barClasses.bar} data-answer-bar>
        {question.needs_signature && <Text size="sm" c="dimmed">{text.signs}</Text>}
        {answer.unsigned !== undefined && <SignatureProblem error={answer.unsigned} />}
        {!answer.doubt && question.action_text !== undefined && !props.seen && <Text size="sm" c="dimmed"><Icon name="warning" size={12} /> {text.unread}</Text>}
        {comments && (
          <Textarea ref={comment} label={text.comment} description={text.commentHint} autosize minRows={2} maxRows={10} value={answer.comment} onChange={(event) => answer.setComment(event.currentTarget.value)} />
        )}
        {answer.doubt ? (
          <Confirm question={question} answer={answer} blocked={blocked} onConfirm={confirm} />
        ) : (
          <Choices {...props} item={reviewing ? undefined : item} reviewing={reviewing} at={at} several={several} onMove={move} onDecide={decide} onProceed={proceed}>
            {mayEdit && !editing && <EditAction question={question} answer={answer} />}
            {!comments && <IconButton icon="note" label={text.addComment} keys="c" onClick={() => setComments(true)} />}
          </Choices>
        )}
      </section>
    </>
  );
}

/** Shows why nothing was signed. The values stay in the form. */
function SignatureProblem({ error }: { error: unknown }) {
  const text = useText();
  const words = error instanceof DecisionMismatch ? text.signOther : stoppedByDevice(error) ? text.signStopped : undefined;
  return words === undefined ? <ErrorAlert error={error} /> : <Alert color="orange" role="alert">{words}</Alert>;
}

/** Shows the choices that one press takes, and beside them what can go with the answer. */
function Choices({ answer, hashCheck, item, reviewing, at, several, late, onMove, onDecide, onProceed, children }: Props & {
  item?: Item; reviewing: boolean; at: number; several: boolean; onMove: (to: number) => void; onDecide: (item: Item, value: Value) => void; onProceed: () => void; children: ReactNode;
}) {
  const text = useText();
  const suggested = item && answer.values[keyOf(item)] === undefined && answer.other[keyOf(item)] === undefined ? suggestion(item) : undefined;
  const hasSuggestion = item && suggested !== undefined && !picksDanger(item, suggested);
  const label = reviewing ? text.answerAll : several ? text.next : late ? text.lateRestart : text.answer;
  const needsPress = item?.response_type !== 'approval' && (item?.response_type !== 'boolean' || hasSuggestion);
  return (
    <>
      {item?.response_type === 'boolean' && answer.faults[keyOf(item)] && <Text size="sm" c="error">{answer.faults[keyOf(item)]}</Text>}
      <div className={barClasses.choices}>
        {several && at > 0 && <Button size="md" variant="default" leftSection={<Icon name="back" />} onClick={() => onMove(at - 1)}>{text.back}</Button>}
        {item?.response_type === 'approval' && (
          <>
            <Button data-choice size="md" color="#1d6b31" disabled={hashCheck === 'differs' || answer.sending} leftSection={<Icon name="check" />} rightSection={<KeyCap>a</KeyCap>} classNames={wrappingButton} onClick={() => onDecide(item, 'approve')}>
              {answer.action === undefined ? text.approve : text.approveEdited}
            </Button>
            <Button data-choice size="md" variant="default" disabled={answer.sending} leftSection={<Icon name="cross" />} rightSection={<KeyCap>r</KeyCap>} onClick={() => onDecide(item, 'reject')}>{text.reject}</Button>
          </>
        )}
        {item?.response_type === 'boolean' && [true, false].map((yes) => (
          <Button
            key={String(yes)} data-choice size="md" variant={answer.values[keyOf(item)] === yes ? 'filled' : 'default'} aria-pressed={answer.values[keyOf(item)] === yes}
            onClick={() => onDecide(item, yes)} rightSection={<KeyCap>{yes ? 'y' : 'n'}</KeyCap>}
          >
            {yes ? text.yes : text.no}
          </Button>
        ))}
        {needsPress && (
          <Button size="md" loading={answer.sending} onClick={onProceed} rightSection={<KeyCap>↵</KeyCap>} classNames={wrappingButton}>
            {hasSuggestion ? text.suggestion(textOf(item, suggested, text)) : label}
          </Button>
        )}
        <div className={barClasses.extras}>{children}</div>
      </div>
    </>
  );
}

/** Asks for a second, deliberate step before a dangerous answer is sent. */
function Confirm({ question, answer, blocked, onConfirm }: { question: Question; answer: AnswerState; blocked: boolean; onConfirm: () => void }) {
  const text = useText();
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  // The focus brings the confirmation into sight. While the reader still reads, no button has it, so that Space scrolls.
  useEffect(() => box.current?.focus(), []);
  useEffect(() => {
    if (!blocked) button.current?.focus({ preventScroll: true });
  }, [blocked]);
  if (!answer.doubt) return null;
  const { kind, values } = answer.doubt;
  const what = question.items.map((item) => (item.response_type === 'approval' ? text.approve.toLowerCase() : textOf(item, answer.complete(values)[keyOf(item)], text))).join(' · ');
  return (
    <Alert ref={box} tabIndex={-1} color="red" role="alertdialog" aria-label={kind === 'danger' ? text.confirmDanger : text.confirmRisk} icon={<Icon name="warning" />} title={<ConfirmTitle kind={kind} action={answer.action ?? question.action_text} />}>
      {blocked && <Text size="sm" mb="xs">{text.confirmScroll}</Text>}
      <Group>
        <Button ref={button} color="red.9" disabled={blocked} onClick={onConfirm} classNames={wrappingButton}>{text.confirm(what)}</Button>
        <Button variant="default" onClick={() => answer.setDoubt(undefined)}>{text.confirmNo}</Button>
      </Group>
    </Alert>
  );
}

/** Says what the confirmed answer does: "Runs git push". */
function ConfirmTitle({ kind, action }: { kind: ConfirmReason; action?: string }) {
  const text = useText();
  const { shape, tool } = action === undefined ? {} : readableOf(action);
  if (kind === 'danger') return text.confirmDanger;
  return shape && subjectOf(shape) !== undefined ? <Does shape={shape} tool={tool} /> : text.confirmRisk;
}

function Review({ question, values, onChange }: { question: Question; values: Values; onChange: (at: number) => void }) {
  const text = useText();
  return (
    <dl className={classes.review} aria-label={text.reviewTitle}>
      {question.items.map((item, at) => (
        <div key={keyOf(item)} className={classes.reviewed}>
          <dt className={classes.text}>{item.header || item.prompt}</dt>
          <dd className={classes.text}>
            <Text span fw={600}>{textOf(item, values[keyOf(item)], text)}</Text>{' '}
            <Button size="compact-sm" variant="default" onClick={() => onChange(at)} aria-label={`${text.change}: ${item.header || item.prompt}`}>{text.change}</Button>
          </dd>
        </div>
      ))}
    </dl>
  );
}
