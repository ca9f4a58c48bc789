import { Radio, Stack } from '@mantine/core';
import { Part } from './Part';
import type { PolicyPartProps } from './policy';
import { useText } from './text';

/** Lets the reader choose what happens to tool calls that no rule matches. */
export function Gate({ policy, set }: PolicyPartProps) {
  const text = useText();
  return (
    <Part title={text.gates} about={text.gatesAbout}>
      <Radio.Group aria-label={text.gate_default} value={policy.gate_default ?? 'ask'} onChange={(value) => set('gate_default', value === 'deny' || value === 'allow' ? value : 'ask')}>
        <Stack gap="xs">
          <Radio value="ask" label={text.gateAsk} description={text.gateAskAbout} />
          <Radio value="deny" label={text.gateDeny} description={text.gateDenyAbout} />
          <Radio value="allow" label={text.gateAllow} description={text.gateAllowAbout} />
        </Stack>
      </Radio.Group>
    </Part>
  );
}
