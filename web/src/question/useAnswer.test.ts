import { act, renderHook, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import type { Answer, Question } from '@/api/types';
import { askedQuestion, setOnline, prepareBrowser } from '@/test/page';

const browser = prepareBrowser();

const choice = (more: Partial<Question['items'][number]> = {}): Question['items'][number] =>
  ({ key: 'colour', prompt: 'Which colour?', response_type: 'choice', options: [{ value: 'blue' }, { value: 'red', danger: true }], ...more });
const approval = (more: Partial<Question> = {}) => askedQuestion({ type: 'approval', items: [{ key: 'go', prompt: 'Go?', response_type: 'approval' }], action_hash: 'h1', ...more });

/** Opens a question on a page of its own. */
async function openQuestion(question: Question) {
  const page = await browser.openPage('ann');
  page.startHeld();
  const onSent = vi.fn();
  const { result, rerender } = renderHook((shown: Question) => page.useAnswer(shown, onSent), { initialProps: question });
  const submit = (values = result.current.values, how?: Parameters<typeof result.current.submit>[1]) => {
    let isSending: boolean | undefined;
    act(() => void (isSending = result.current.submit(values, how)));
    return isSending;
  };
  const settle = () => waitFor(() => expect(result.current.sending).toBe(false));
  return { page, form: result, show: rerender, onSent, submit, settle };
}

const sent = () => browser.server.calls.map(({ body }) => JSON.parse(body) as Answer);

describe('an answer', () => {
  it('is sent with its comment, once however often the reader presses', async () => {
    const { form, submit, settle, onSent } = await openQuestion(askedQuestion());
    act(() => form.current.change('colour', 'blue'));
    act(() => form.current.setComment('as the door'));
    expect(submit()).toBe(true);
    expect(submit()).toBe(false);
    await settle();
    expect(submit()).toBe(false);
    expect(sent()).toEqual([{ answers: { colour: 'blue' }, channel: 'web', undo: true, comment: 'as the door' }]);
    expect(onSent).toHaveBeenCalledOnce();
  });

  it('with a fault is not sent: the fault is shown until the reader changes something', async () => {
    const { form, submit } = await openQuestion(askedQuestion());
    expect(submit()).toBe(false);
    expect(form.current.faults.colour).toBeTruthy();
    act(() => form.current.change('colour', 'blue'));
    expect(form.current.faults).toEqual({});
    expect(sent()).toEqual([]);
  });

  it('in the words of the reader takes the place of the options, or is added to them', async () => {
    const one = await openQuestion(askedQuestion({ items: [choice()] }));
    act(() => one.form.current.change('colour', 'blue'));
    act(() => one.form.current.changeOther('colour', 'green'));
    one.submit();
    await one.settle();
    const many = await openQuestion(askedQuestion({ id: 'q_2', items: [choice({ response_type: 'multi_choice' })] }));
    act(() => many.form.current.change('colour', ['blue']));
    act(() => many.form.current.changeOther('colour', 'green'));
    many.submit();
    await many.settle();
    expect(sent().map(({ answers }) => answers)).toEqual([{ colour: 'green' }, { colour: ['blue', 'green'] }]);
  });
});

describe('a dangerous answer', () => {
  it('is sent only after the reader has confirmed it', async () => {
    const { form, submit, settle } = await openQuestion(askedQuestion({ items: [choice()] }));
    expect(submit({ colour: 'red' })).toBe(false);
    expect(form.current.doubt).toEqual({ kind: 'danger', values: { colour: 'red' } });
    act(() => form.current.change('colour', 'blue'));
    expect(form.current.doubt).toBeUndefined();
    expect(submit({ colour: 'red' })).toBe(false);
    expect(sent()).toEqual([]);
    expect(submit({ colour: 'red' }, { confirmed: true })).toBe(true);
    await settle();
    expect(sent().map(({ answers }) => answers)).toEqual([{ colour: 'red' }]);
  });

  it('is an approval of high risk, but not its rejection', async () => {
    const { form, submit, settle } = await openQuestion(approval({ risk: 'high' }));
    expect(submit({ go: 'approve' })).toBe(false);
    expect(form.current.doubt?.kind).toBe('risk');
    expect(submit({ go: 'reject' })).toBe(true);
    await settle();
    expect(sent()).toMatchObject([{ answers: { go: 'reject' }, action_hash: 'h1' }]);
  });
});

it('an edited action is sent with an approval, and not with a rejection', async () => {
  for (const decision of ['approve', 'reject']) {
    const { form, submit, settle } = await openQuestion(approval({ id: `q_${decision}` }));
    act(() => form.current.setAction('{"command": "ls"}'));
    submit({ go: decision });
    await settle();
  }
  expect(browser.server.calls.map(({ body }) => body.includes('"action":{"command":"ls"}'))).toEqual([true, false]);
});

describe('what the reader typed', () => {
  it('is there again on the next page', async () => {
    const before = await openQuestion(askedQuestion());
    act(() => before.form.current.change('colour', 'blue'));
    act(() => before.form.current.setComment('as the door'));
    const { form } = await openQuestion(askedQuestion());
    expect(form.current.values).toEqual({ colour: 'blue' });
    expect(form.current.comment).toBe('as the door');
  });

  it('stays when the server refuses the answer, and can be sent again', async () => {
    const { page, form, submit, settle } = await openQuestion(askedQuestion());
    act(() => form.current.change('colour', 'blue'));
    browser.server.refuse(400, 'invalid_request');
    submit();
    await settle();
    expect(page.readDraft('q_1')?.values).toEqual({ colour: 'blue' });
    expect(submit()).toBe(true);
    await settle();
    expect(sent()).toHaveLength(2);
    expect(page.readDraft('q_1')).toBeUndefined();
  });

  it('stays while the answer waits for the connection', async () => {
    const { page, form, submit, settle } = await openQuestion(askedQuestion());
    act(() => form.current.change('colour', 'blue'));
    setOnline(false);
    submit();
    await settle();
    expect(page.outbox().map(({ state }) => state)).toEqual(['queued']);
    expect(page.readDraft('q_1')?.values).toEqual({ colour: 'blue' });
  });

  it('can be sent again after an undo', async () => {
    const { page, form, show, submit, settle } = await openQuestion(askedQuestion());
    act(() => form.current.change('colour', 'blue'));
    const held = { by: { kind: 'human' as const, name: 'ann' }, at: new Date().toISOString(), release_at: new Date(Date.now() + 60_000).toISOString() };
    browser.server.reply(200, askedQuestion({ held }));
    submit();
    await settle();
    show(askedQuestion({ held }));
    const [last] = page.heldAnswers();
    browser.server.reply(200, askedQuestion());
    if (last) await page.undoAnswer(last);
    show(askedQuestion());
    expect(form.current.values).toEqual({ colour: 'blue' });
    expect(submit({ colour: 'red' })).toBe(true);
    await settle();
    expect(browser.server.calls.map(({ path }) => path.split('/').at(-1))).toEqual(['answer', 'undo', 'answer']);
  });
});
