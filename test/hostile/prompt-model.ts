import { createSession } from '@holdfast/client'
import type { SessionHandle } from '@holdfast/protocol'
import type { CaseRun } from './case.ts'
import type { Block } from './hostile-model.ts'

type StartOptions = NonNullable<Parameters<CaseRun['server']['sessions']['start']>[0]>

/** Starts a session with the hostile model and sends the prompt that makes it answer with `blocks`. */
export async function promptModel(
  { server, model, workdir }: CaseRun,
  name: string,
  blocks: () => Iterable<Block>,
  options: Pick<StartOptions, 'approvals' | 'permissions'> = {},
): Promise<SessionHandle> {
  model.script(name, blocks)
  const started = await server.sessions.start({ workdir, model: model.model, ...options })
  if (!started.ok) throw new Error(started.fault.message)
  await createSession(started.value).sendPrompt(`Run script ${name}.`)
  return started.value
}
