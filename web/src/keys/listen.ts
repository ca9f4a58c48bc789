import { preferences } from '@/shell/preferences';
import { find, nameOf } from './registry';

const sequenceWithin = 1_200;
let pressed: string[] = [];
let forget: ReturnType<typeof setTimeout> | undefined;

/** Reports whether key presses go into a text field. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !['button', 'checkbox', 'radio', 'submit', 'range'].includes(target.type);
}

/** Reports whether the control handles the key itself. */
function takesKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const role = target.getAttribute('role') ?? '';
  if (key === 'Enter' || key === 'Space') return target.closest('a, button, input, summary, [role=button], [role=option], [role=menuitem]') !== null;
  if (key.startsWith('Arrow') || key === 'Home' || key === 'End') {
    return target instanceof HTMLInputElement || ['menuitem', 'option', 'tab', 'slider', 'listbox'].includes(role);
  }
  return false;
}

function onKey(event: KeyboardEvent) {
  if (event.defaultPrevented || event.isComposing || ['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
  const key = nameOf(event);
  const typing = isTyping(event.target);
  const plain = !key.includes('mod+') && key !== 'Escape' && !/^F\d/.test(key);
  if ((plain && !preferences().keys) || takesKey(event.target, key)) return;
  pressed.push(key);
  let found = find(pressed, typing);
  if (found.kind === 'none' && pressed.length > 1) {
    pressed = [key];
    found = find(pressed, typing);
  }
  clearTimeout(forget);
  if (found.kind === 'begun') {
    forget = setTimeout(() => (pressed = []), sequenceWithin);
    return;
  }
  pressed = [];
  if (found.kind === 'run') {
    event.preventDefault();
    found.command.run();
  }
}

/** Listens for keys. Returns a function that stops it. */
export function listenForKeys(): () => void {
  window.addEventListener('keydown', onKey);
  return () => window.removeEventListener('keydown', onKey);
}
