import type { Answer, SessionId, Sessions } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { parseTurn } from '../../args/parse-args.ts'
import { continuedText } from '../../sessions/changed-text.ts'
import { handleOf } from '../../sessions/handle-of.ts'
import { submitAndPrint, submitCommand } from '../../sessions/submit-command.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import type { sessionSpecs } from './specs.ts'

export const branch: RunCommand<typeof sessionSpecs.branch> = async (
  { positionals: [name = '', text = ''], flags },
  context,
) => {
  const turn = turnOf(text)
  const describe = (saved: string) => continuedText(saved, turn)
  return submitAndPrint(name, { type: 'branchAt', turn }, { field: 'branch', describe }, flags.json, context)
}

export const turnOf = (text: string): number =>
  parseTurn(text) ?? rejectUsage(`<turn> must be the number of a turn, from 0, not '${text}'.`)

export const switchBranch: RunCommand<typeof sessionSpecs.switch> = (
  { positionals: [name = '', asked = ''], flags },
  context,
) => {
  const to = parseTurn(asked) ?? asked
  const describe = (reached: string) => `Switched to ${reached}. The messages before are saved as a branch.`
  // The answer has no branch if the session is on it already.
  const printed = { field: 'branch', describe, unchanged: typeof to === 'string' ? to : '' } as const
  return submitAndPrint(name, { type: 'switchBranch', branch: to }, printed, flags.json, context)
}

export const fork: RunCommand<typeof sessionSpecs.fork> = (
  { positionals: [name = ''], flags: { at, json } },
  context,
) => {
  const command = { type: 'fork', ...(at !== undefined && { at }) } as const
  const print = async (answer: Answer, sessions: Sessions, source: SessionId) => {
    if (json) return context.out.writeJson(answer)
    const handle = await handleOf(sessions, String(answer.result['session']))
    await context.out.write(`${handle}\n`)
    await context.err.tell(`Started ${handle}, which shares the history of ${await handleOf(sessions, source)}.`)
  }
  return submitCommand(name, command, print, context)
}

export const rename: RunCommand<typeof sessionSpecs.rename> = (
  { positionals: [name = '', title = ''], flags },
  context,
) => {
  const shown = escapeLine(title.trim())
  const sentence = shown === '' ? 'The title is the first line of the first prompt again.' : `The title is ${shown}.`
  return submitAndPrint(name, { type: 'rename', title }, { describe: () => sentence }, flags.json, context)
}

export const pin: RunCommand<typeof sessionSpecs.pin> = (
  { positionals: [name = ''], flags: { off, json } },
  context,
) => {
  const describe = () => (off ? 'Unpinned.' : 'Pinned: listed first, and protected from prune and rm --all.')
  return submitAndPrint(name, { type: 'pinSession', pinned: !off }, { describe }, json, context)
}
