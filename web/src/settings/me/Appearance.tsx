import { SegmentedControl, Stack, Switch, Text, useMantineColorScheme } from '@mantine/core';
import { useId } from 'react';
import { usePreference, type Preferences } from '@/shell/preferences';
import { languages, type Language } from '@/text/languages';
import { Section } from '../parts/Section';
import { useText } from './text';

/** Lets the reader choose how the pages look in this browser. */
export default function Appearance() {
  const text = useText();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [language, setLanguage] = usePreference('language');
  return (
    <Section title={text.appearance} about={text.appearanceAbout}>
      <Stack gap="lg" mt="xs">
        <Choice
          label={text.colours} value={colorScheme} set={setColorScheme}
          data={[{ value: 'auto', label: text.auto }, { value: 'light', label: text.light }, { value: 'dark', label: text.dark }]}
        />
        <Preference name="contrast" label={text.contrast} data={[{ value: 'system', label: text.auto }, { value: 'more', label: text.contrastMore }]} />
        <Preference name="motion" label={text.motion} data={[{ value: 'system', label: text.auto }, { value: 'less', label: text.motionLess }]} />
        <Preference name="density" label={text.density} data={[{ value: 'comfortable', label: text.comfortable }, { value: 'compact', label: text.compact }]} />
        <Choice
          label={text.language} value={language} set={setLanguage}
          data={[
            { value: 'system', label: text.auto },
            ...Object.entries(languages).map(([value, label]) => ({ value: value as Language, label })),
          ]}
        />
        <OnOff name="keys" label={text.keys} about={text.keysAbout} />
        <OnOff name="dialog" label={text.dialog} about={text.dialogAbout} />
      </Stack>
    </Section>
  );
}

interface ChoiceProps<V extends string> {
  label: string;
  value: V;
  set: (value: V) => void;
  data: { value: V; label: string }[];
}

function Choice<V extends string>({ label, value, set, data }: ChoiceProps<V>) {
  const id = useId();
  return (
    <div>
      <Text id={id} size="sm" fw={600} mb={4}>{label}</Text>
      <SegmentedControl aria-labelledby={id} value={value} onChange={set} data={data} />
    </div>
  );
}

type PreferenceChoice = { [K in keyof Preferences]: Preferences[K] extends string ? K : never }[keyof Preferences];

function Preference<K extends PreferenceChoice>({ name, label, data }: { name: K; label: string; data: { value: Preferences[K]; label: string }[] }) {
  const [value, set] = usePreference(name);
  return <Choice label={label} value={value} set={set} data={data} />;
}

type PreferenceSwitch = { [K in keyof Preferences]: Preferences[K] extends boolean ? K : never }[keyof Preferences];

function OnOff({ name, label, about }: { name: PreferenceSwitch; label: string; about: string }) {
  const [value, set] = usePreference(name);
  return <Switch label={label} description={about} checked={value} onChange={(event) => set(event.currentTarget.checked)} />;
}
