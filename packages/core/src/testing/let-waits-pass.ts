import { orThrow } from '@holdfast/protocol'
import type { TestRuntime } from '@holdfast/testkit'

/** Resolves when nothing in this process can go on without the clock. */
export const stillness = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Starts a turn and advances the clock over each of its waits; returns the waits. */
export async function letWaitsPass(
  { handle, clock }: TestRuntime,
  begin: () => Promise<unknown>,
): Promise<readonly number[]> {
  const { seq: after } = orThrow(await handle.snapshot())
  await begin()
  let isOver = false
  const watching = (async () => {
    for await (const frame of handle.subscribe({ after }))
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return
  })().then(() => {
    isOver = true
  })
  const waits: number[] = []
  for (await stillness(); !isOver; await stillness()) {
    const nextMs = clock.nextMs()
    if (nextMs === null) continue
    waits.push(nextMs)
    clock.advance(nextMs)
  }
  await watching
  return waits
}

/** Resolves when someone waits for the clock, with the time of that wait. */
export async function nextWait({ clock }: TestRuntime): Promise<number> {
  for (;;) {
    await stillness()
    const nextMs = clock.nextMs()
    if (nextMs !== null) return nextMs
  }
}
