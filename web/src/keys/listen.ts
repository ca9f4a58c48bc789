import { preferences } from '@/shell/preferences';
import { findCommand, keyName, topLevel } from './registry';

const sequenceTimeout = 1_200;
let pressedKeys: string[] = [];
let sequenceTimer: ReturnType<typeof setTimeout> | undefined;

/**
 * What was on top of the page when a key was pressed: the level of the dialog, and whether a menu or a list of choices
 * was open. A component may close these before the key gets here, and the page below must not take the key as well.
 */
let onTop = { level: 0, popup: false };

function recordTop() {
  onTop = { level: topLevel(), popup: [...document.querySelectorAll('[role=menu], [role=listbox]')].some((popup) => popup.checkVisibility()) };
}

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
  const key = keyName(event);
  const typing = isTyping(event.target);
  const plain = !key.includes('mod+') && key !== 'Escape' && !/^F\d/.test(key);
  if ((plain && !preferences().keys) || takesKey(event.target, key) || (key === 'Escape' && onTop.popup)) return;
  const level = Math.max(onTop.level, topLevel());
  pressedKeys.push(key);
  let found = findCommand(pressedKeys, typing, level);
  if (found.kind === 'none' && pressedKeys.length > 1) {
    pressedKeys = [key];
    found = findCommand(pressedKeys, typing, level);
  }
  clearTimeout(sequenceTimer);
  if (found.kind === 'begun') {
    sequenceTimer = setTimeout(() => (pressedKeys = []), sequenceTimeout);
    return;
  }
  pressedKeys = [];
  if (found.kind === 'run') {
    event.preventDefault();
    found.command.run();
  } else if (typing && key === 'Escape' && event.target instanceof HTMLElement) {
    // The keys work again. What was typed stays.
    event.target.blur();
  }
}

/** Listens for keys. Returns a function that stops it. */
export function listenForKeys(): () => void {
  window.addEventListener('keydown', recordTop, true);
  window.addEventListener('keydown', onKey);
  return () => {
    window.removeEventListener('keydown', recordTop, true);
    window.removeEventListener('keydown', onKey);
  };
}
