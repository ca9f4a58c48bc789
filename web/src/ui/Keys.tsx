import { Group, Kbd, Text } from '@mantine/core';
import { useText } from '@/shell/text';

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);
const names: Record<string, string> = { mod: isApple ? '⌘' : 'Ctrl', shift: '⇧', alt: 'Alt', ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc', Enter: '↵' };
const shown = (key: string) => (key === '+' ? '+' : key.split('+').map((part) => names[part] ?? part).join(' '));

/** Shows keys as they are named on the keyboard. "g i" means one after the other. */
export function Keys({ keys }: { keys: string }) {
  const text = useText();
  return (
    <Group gap={4} wrap="nowrap" component="span">
      {keys.split(' ').map((key, at) => (
        <Group key={`${at}${key}`} gap={4} wrap="nowrap" component="span">
          {at > 0 && <Text span size="xs">{text.then}</Text>}
          <Kbd>{shown(key)}</Kbd>
        </Group>
      ))}
    </Group>
  );
}
