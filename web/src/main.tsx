import '@mantine/core/styles.css';
import './global.css';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { startOffline } from './offline/start';
import { onAccepted, startOutbox } from './outbox/outbox';
import { dropDraft, dropOldDrafts } from './question/draft';
import { startHeld } from './question/held';
import { startUrgent } from './question/urgent';
import { startPush } from './push/start';
import { keepStyles } from './ui/piece';

const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');
keepStyles();
createRoot(root).render(<App />);
startHeld();
startUrgent();
// An answer that had to wait takes its draft along when it is accepted at last.
onAccepted(({ questionId }) => dropDraft(questionId));
void startOutbox();
dropOldDrafts();
startOffline();
startPush();
