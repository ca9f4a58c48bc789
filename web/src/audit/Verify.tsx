import { Alert, Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { serverNow } from '@/api/time';
import type { AuditReport } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { useLanguage } from '@/text/language';
import { useTime } from '@/text/time';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useText } from './text';

/** Verifies the hash chain of the whole event log. The result is shown below the button. */
export function useVerify() {
  const text = useText();
  const verify = useMutation({
    mutationFn: async () => ({ report: await unwrap(api.GET('/v1/audit/verify')), at: serverNow() }),
  });
  useCommands([{ id: 'verify-audit', title: text.verify, group: text.title, keys: ['v'], run: () => verify.mutate() }]);
  const button = (
    <Button leftSection={<Icon name="chain" />} loading={verify.isPending} onClick={() => verify.mutate()}>{verify.isPending ? text.verifying : text.verify}</Button>
  );
  const result = (
    <div role="status">
      {Boolean(verify.error) && <ErrorAlert error={verify.error} />}
      {verify.data && <Result {...verify.data} />}
    </div>
  );
  return { button, result };
}

function Result({ report, at }: { report: AuditReport; at: number }) {
  const text = useText();
  const time = useTime();
  const language = useLanguage();
  const events = report.events.toLocaleString(language);
  const about = report.removed > 0 ? text.trimmedAbout(time.full(at), report.removed.toLocaleString(language)) : text.wholeAbout(time.full(at));
  if (report.ok) return <Alert mt="sm" color="green" icon={<Icon name="check" />} title={text.whole(events)}>{about} {text.signed(report.signed_to.toLocaleString(language), report.witnessed)}</Alert>;
  return <Alert mt="sm" color="red" icon={<Icon name="warning" />} title={text.broken}>{report.problem}. {text.brokenAbout(events)}</Alert>;
}
