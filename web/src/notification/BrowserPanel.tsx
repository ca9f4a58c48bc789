import { Button, Group, Paper, Radio, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { usePreference } from '@/shell/preferences';
import { Icon } from '@/ui/Icon';
import { askPermission, permission } from './browser';
import classes from './news.module.css';
import { startNewsWatcher } from './newsWatcher';
import { useNewsText } from './text';

/**
 * Lets the reader turn on notifications of the browser. The browser asks for permission only after a press, never by
 * itself.
 */
export function BrowserPanel() {
  const text = useNewsText();
  const [on, setOn] = usePreference('browserNotifications');
  const [kinds, setKinds] = usePreference('browserKinds');
  const [allowed, setAllowed] = useState(permission);
  const active = on && allowed === 'granted';
  const turnOn = async () => {
    const now = await askPermission();
    // All news from this moment on is shown, however long the code that shows it takes to load.
    if (now === 'granted') await startNewsWatcher().started;
    setAllowed(now);
    setOn(now === 'granted');
  };
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="browser-news" className={classes.browser}>
      <Group justify="space-between" gap="sm">
        <div>
          <Group gap="xs"><Icon name="bell" size={16} /><Title order={2} size="h6" id="browser-news">{text.browser}</Title></Group>
          <Text size="sm" c="dimmed" role="status">{active ? text.isOn : allowed === 'denied' ? text.denied : allowed === 'unsupported' ? text.unsupported : text.browserWhat}</Text>
        </div>
        {active && <Button variant="default" size="compact-sm" mih={32} onClick={() => setOn(false)}>{text.turnOff}</Button>}
        {!active && (allowed === 'default' || allowed === 'granted') && <Button size="compact-sm" mih={32} onClick={() => void turnOn()}>{text.turnOn}</Button>}
      </Group>
      {active && (
        <Radio.Group mt="xs" label={text.kinds} value={kinds} onChange={(value) => setKinds(value === 'all' ? 'all' : 'urgent')}>
          <Group mt={4}>
            <Radio value="urgent" label={text.urgent} />
            <Radio value="all" label={text.all} />
          </Group>
        </Radio.Group>
      )}
    </Paper>
  );
}
