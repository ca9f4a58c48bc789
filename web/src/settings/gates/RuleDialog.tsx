import { NumberInput, Radio, Select, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { Dialog } from '@/ui/Dialog';
import { Expiry } from '../parts/Expiry';
import { Form } from '../parts/Form';
import { FormEnd } from '../parts/FormEnd';
import { useText as usePartsText } from '../parts/text';
import { useForm } from '../parts/useForm';
import { rulesQuery } from '../queries';
import { Arguments } from './Arguments';
import { RuleTarget } from './RuleTarget';
import { checkRule, newRule, risks, type RuleValues } from './rule';
import { useText } from './text';

const empty: RuleValues = {
  decision: 'allow', tool: '', args: [], target: 'everywhere', targetName: '', limited: false, uses: 1, risk: '', reason: '', expires_in: 'never',
};

/** The dialog that adds a rule for tool calls. */
export function RuleDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  return (
    <Dialog opened onClose={onClose} title={text.add} size="lg" closeOnClickOutside={false}>
      <RuleForm onClose={onClose} />
    </Dialog>
  );
}

function RuleForm({ onClose }: { onClose: () => void }) {
  const text = useText();
  const parts = usePartsText();
  const client = useQueryClient();
  const form = useForm({
    initial: empty,
    check: (values) => checkRule(values, { ...parts, ...text }),
    save: (values) => unwrap(api.POST('/v1/gate-rules', { body: newRule(values) })),
    onSaved: () => {
      void client.invalidateQueries({ queryKey: rulesQuery.queryKey });
      onClose();
    },
  });
  const { values, errors, set } = form;
  const decisions = [['allow', text.allowAbout], ['ask', text.askAbout], ['deny', text.denyAbout]] as const;
  return (
    <Form form={form}>
      <Stack>
        <Radio.Group label={text.decision} value={values.decision} onChange={(chosen) => set('decision', decisions.find(([each]) => each === chosen)?.[0] ?? 'ask')}>
          <Stack gap="xs" mt={4}>
            {decisions.map(([decision, about]) => <Radio key={decision} value={decision} label={text[decision]} description={about} />)}
          </Stack>
        </Radio.Group>
        <TextInput
          label={text.tool} description={text.toolAbout} required data-autofocus autoCapitalize="off" spellCheck={false}
          value={values.tool} error={errors.tool} onChange={(event) => set('tool', event.currentTarget.value)}
        />
        <Arguments values={values} set={set} errors={errors} />
        <RuleTarget values={values} set={set} errors={errors} />
        {values.decision === 'allow' && (
          <>
            <Switch label={text.limited} checked={values.limited} onChange={(event) => set('limited', event.currentTarget.checked)} />
            {values.limited && (
              <NumberInput label={text.uses} maw={160} min={1} clampBehavior="none" allowDecimal={false} value={values.uses} error={errors.uses} onChange={(n) => set('uses', typeof n === 'number' ? n : NaN)} />
            )}
          </>
        )}
        {values.decision === 'ask' && (
          <Select
            label={text.risk} allowDeselect={false} value={values.risk === '' ? 'none' : values.risk}
            data={[{ value: 'none', label: text.riskNone }, ...risks.map((risk) => ({ value: risk, label: text[risk] }))]}
            onChange={(chosen) => set('risk', risks.find((risk) => risk === chosen) ?? '')}
          />
        )}
        <Textarea label={text.reason} description={text.reasonAbout} autosize minRows={1} value={values.reason} error={errors.reason} onChange={(event) => set('reason', event.currentTarget.value)} />
        <Expiry value={values.expires_in} set={(value) => set('expires_in', value)} error={errors.expires_in} />
        <FormEnd submitLabel={text.add} sending={form.sending} error={form.error} submit={form.submit} onCancel={onClose} />
      </Stack>
    </Form>
  );
}
