import { Select, SimpleGrid } from '@mantine/core';
import { Part } from './Part';
import type { PolicyPartProps } from './policy';
import { useText } from './text';

const risks = ['low', 'medium', 'high', 'critical'] as const;
const levels = ['channel', 'session', 'passkey'] as const;

/** Lets the reader choose, by risk, how strongly a person must have proved who they are to answer. */
export function Assurance({ policy, set, errors }: PolicyPartProps) {
  const text = useText();
  const words = { channel: text.least_channel, session: text.least_session, passkey: text.least_passkey };
  // Without a setting, the server asks for more at high and critical risks.
  const usual = (risk: (typeof risks)[number]) => ({ low: text.least_none, medium: text.least_none, high: text.least_usual_high, critical: text.least_usual_critical })[risk];
  const change = (risk: string, level: string | null) => {
    const others = Object.entries(policy.least_assurance ?? {}).filter(([each]) => each !== risk);
    set('least_assurance', Object.fromEntries(level && level !== 'none' ? [...others, [risk, level]] : others));
  };
  return (
    <Part title={text.assurance} about={text.assuranceAbout}>
      <SimpleGrid type="container" cols={{ base: 1, '540px': 2 }}>
        {risks.map((risk) => (
          <Select
            key={risk} label={text[risk]} allowDeselect={false} value={policy.least_assurance?.[risk] ?? 'none'} error={errors[`least_assurance.${risk}`]}
            data={[{ value: 'none', label: usual(risk) }, ...levels.map((level) => ({ value: level, label: words[level] }))]} onChange={(level) => change(risk, level)}
          />
        ))}
      </SimpleGrid>
    </Part>
  );
}
