import type { Tool } from '@holdfast/core/ports'
import { ok } from '@holdfast/protocol'
import { z } from 'zod'
import { resolveWorkdir } from '../../system/files/resolve-path.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { tellShell } from './background-shell.ts'
import type { BackgroundShells } from './background-shells.ts'
import { howEnded } from './running-command.ts'
import { shellId } from './shell-output.ts'

const input = z.strictObject({ id: shellId.describe('The id that shell returned.') })

/** Creates the tool that ends a command in the background. It needs no approval: it changes nothing of the person's. */
export function createShellStop(background: BackgroundShells): Tool {
  const stop = whenBegun(async ({ id }: z.infer<typeof input>, { workdir, session }, { signal }) => {
    const cwd = await resolveWorkdir(workdir)
    if (!cwd.ok) return cwd
    const found = background.find(session, id)
    if (!found.ok) return found
    const { running, ended } = found.value
    if (ended !== null) return ok({ text: `${id} had ended already: ${howEnded(ended.ending)}` })
    running.end('stopped')
    const kill = () => running.end('aborted')
    signal.addEventListener('abort', kill, { once: true })
    const { leftRunning } = await running.ended
    signal.removeEventListener('abort', kill)
    return ok({ text: [`${id} was ended.`, ...(leftRunning === undefined ? [] : [leftRunning])].join('\n') })
  })
  return defineTool({
    name: 'shell_stop',
    description:
      'Ends a command in the background with all its processes: SIGTERM, after 2 seconds SIGKILL. Its output can still be read.',
    input,
    changes: 'nothing',

    async preview(args, { workdir, session }) {
      const cwd = await resolveWorkdir(workdir)
      if (!cwd.ok) return cwd
      const found = background.find(session, args.id)
      return found.ok ? ok({ preview: { type: 'arguments', args } }) : found
    },

    async run(args, context, run) {
      const result = await stop(args, context, run)
      const found = background.find(context.session, args.id)
      return found.ok ? tellShell(found.value, result) : result
    },
  })
}
