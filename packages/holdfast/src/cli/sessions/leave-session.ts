import type { SessionHandle } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { CliContext } from '../terminal/cli-context.ts'

/** Leaves a session that this process owns: what others do in it comes first, and what ends with the process is named. */
export async function leaveOwned(handle: SessionHandle, context: CliContext, interruption: AbortSignal): Promise<void> {
  await waitForOthers(handle, context, interruption)
  await tellEnded(handle, context)
}

/** Waits for a turn that another terminal started here, because it would end with this process. An open question survives. */
async function waitForOthers(handle: SessionHandle, { err }: CliContext, interruption: AbortSignal): Promise<void> {
  const isWorking = async () => {
    const state = await handle.state(['activity', 'pendingApprovals'])
    return state.ok && /^(thinking|tool_executing)$/.test(state.value.activity) && !state.value.pendingApprovals.length
  }
  if (interruption.aborted || !(await isWorking())) return
  await err.tell('Waiting for a turn that another terminal started in this process. Press Ctrl-C to end it.')
  const frames = handle.subscribe({ signal: interruption })
  for await (const frame of frames)
    if ((frame.type === 'snapshot' || frame.type === 'record') && !(await isWorking())) break
}

/** Returns the subagents that still work, in the background. */
async function findWorking(handle: SessionHandle) {
  const subagents = await handle.subagents()
  return subagents.ok ? subagents.value.filter(({ status }) => status === 'running' || status === 'waiting') : []
}

/** Says which subagents go on at the server, and where their results will be. */
export async function tellBackground(handle: SessionHandle, { err }: CliContext): Promise<void> {
  const working = await findWorking(handle)
  const state = working.length === 0 ? null : await handle.state(['meta'])
  if (!state?.ok) return
  const names = working.map(({ handle: name }) => name).join(', ')
  const go = working.length === 1 ? 'goes on' : 'go on'
  await err.tell(
    `${names} ${go} in the background. To see the result: holdfast attach ${state.value.meta.handle}, or later holdfast show ${state.value.meta.handle}.`,
  )
}

/** Says which subagents and commands in the background end with this process. Those of a server go on. */
async function tellEnded(handle: SessionHandle, { err }: CliContext): Promise<void> {
  for (const { handle: name, task } of await findWorking(handle))
    await err.tell(
      `Ending subagent ${name}, which works in the background: ${escapeLine(task)}. With holdfast serve it would go on.`,
    )
  const shells = await handle.backgroundShells()
  const running = shells.ok ? shells.value.filter(({ ended }) => ended === undefined) : []
  if (running.length === 0) return
  const commands = running.map(({ command }) => `  ${escapeLine(command)}\n`)
  await err.tell('Ending what still runs in the background. With holdfast serve it would go on.')
  await err.write(commands.join(''))
}
