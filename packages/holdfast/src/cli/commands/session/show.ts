import type { Message } from '@holdfast/protocol'
import { transcriptJson } from '../../../transfer/export/json.ts'
import type { RunCommand } from '../../args/command-spec.ts'
import { headText, messageText } from '../../render/transcript-text.ts'
import { warnOfLoss, withReadSession } from '../../sessions/stored-session.ts'
import { withPager } from '../../terminal/pager.ts'
import type { sessionSpecs } from './specs.ts'

/** Reads the store, or a server, and loads no session. */
export const run: RunCommand<typeof sessionSpecs.show> = ({ positionals: [name = ''], flags }, context) =>
  withReadSession(context, name, { branch: flags.branch }, async (session) => {
    const isPrinted = (message: Message) => flags.json || messageText(message, context.out.paint) !== ''
    const newest = flags.limit === undefined ? null : await session.newest(flags.limit, isPrinted)
    const pages = newest === null ? session.pages() : [newest.messages]
    const before = newest?.before ?? null
    if (flags.json) for await (const text of transcriptJson(session.meta, pages, before)) await context.out.write(text)
    else
      await withPager(context, async (out) => {
        await out.write(out.wrap(headText(session.meta, out.paint)))
        if (before !== null) await out.write(out.paint.dim('\n… older messages are not shown …\n'))
        for await (const messages of pages)
          await out.write(messages.map((one) => messageText(one, out.paint, flags.utc, out.wrap)).join(''))
      })
    await warnOfLoss(session, context)
  })
