import { SimpleGrid, TextInput } from '@mantine/core';
import { Part } from './Part';
import { keptKinds, type PolicyPartProps } from './policy';
import { useText } from './text';

/** Lets the reader set how long what has ended is kept. */
export function Kept({ policy, set, errors }: PolicyPartProps) {
  const text = useText();
  return (
    <Part title={text.kept} about={text.keptAbout}>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        {keptKinds.map((kind) => (
          <TextInput
            key={kind} label={text[kind]} placeholder={text.usual('never')} value={policy[kind] ?? ''} error={errors[kind]}
            onChange={(event) => set(kind, event.currentTarget.value.trim())}
          />
        ))}
      </SimpleGrid>
    </Part>
  );
}
