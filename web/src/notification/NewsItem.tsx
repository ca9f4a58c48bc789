import { Anchor, Badge, Box, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { whoamiQuery } from '@/api/queries';
import { RiskBadge } from '@/question/Badges';
import { countsOf } from '@/question/facts';
import { answersText } from '@/question/item';
import { useText as useQuestionText } from '@/question/text';
import { useTime } from '@/text/time';
import { Visible } from '@/text/Visible';
import { Icon, type IconName } from '@/ui/Icon';
import type { News } from './api';
import classes from './news.module.css';
import { QuickAnswers } from './QuickAnswers';
import { headline } from './headline';
import { useNewsText } from './text';

const icons: Partial<Record<string, IconName>> = {
  'question.asked': 'person', 'question.assigned': 'person', 'question.escalated': 'warning', 'question.answered': 'check', 'question.timed_out': 'clock',
  'question.cancelled': 'undo', 'question.answered_late': 'clock', 'task.ended': 'tasks',
} satisfies Record<News['type'], IconName>;

/** Shows one notification and the answers that the reader can give at once. */
export const NewsItem = memo(function NewsItem({ news, now }: { news: News; now: number }) {
  const text = useNewsText();
  const words = useQuestionText();
  const times = useTime();
  const { data: me } = useQuery(whoamiQuery);
  const { question, task, unread } = news;
  const asked = /asked|assigned|escalated/.test(news.type);
  const answers = question?.resolution?.answers;
  return (
    <Box className={classes.item} data-unread={unread} data-news={news.seq}>
      <span className={classes.icon}><Icon name={icons[news.type] ?? 'bell'} size={16} /></span>
      <Box flex={1} miw={0}>
        <Group gap="xs" mb={2}>
          <Text size="sm" fw={unread ? 700 : 500}>{headline(news, text, me?.name)}</Text>
          {unread && <Badge size="sm" tt="none" variant="filled">{text.unread}</Badge>}
          <Text span size="xs" c="dimmed" component="time" dateTime={news.at} title={times.full(news.at)}>{times.relative(news.at, now)}</Text>
        </Group>
        {question ? (
          <Link to="/questions/$id" params={{ id: question.id }} className={classes.title} data-news-link><Visible text={question.title} /></Link>
        ) : (
          <Link to="/tasks/$id" params={{ id: task.id }} className={classes.title} data-news-link><Visible text={task.title} /></Link>
        )}
        {question && task.title !== question.title && (
          <Text size="sm" c="dimmed">
            {text.inTask} <Anchor size="sm" underline="always" c="inherit" renderRoot={(props) => <Link to="/tasks/$id" params={{ id: task.id }} {...props} />}><Visible text={task.title} /></Anchor>
          </Text>
        )}
        {question && (
          <Group gap={6} mt={2}>
            <RiskBadge risk={question.risk} />
            <Text size="xs" c="dimmed"><Visible text={[...countsOf(question, words), question.project].filter(Boolean).join(' · ')} /></Text>
          </Group>
        )}
        {question && answers && !asked && <Text size="sm" mt={2}><b><Visible text={answersText(question, answers, words)} /></b></Text>}
        {question && asked && question.status !== 'pending' && <Text size="sm" mt={2}>{text.since}: {words[`status_${question.status}`]}{answers && <> – <b><Visible text={answersText(question, answers, words)} /></b></>}</Text>}
        {question && asked && question.status === 'pending' && <Box mt={6}><QuickAnswers question={question} /></Box>}
      </Box>
    </Box>
  );
});
