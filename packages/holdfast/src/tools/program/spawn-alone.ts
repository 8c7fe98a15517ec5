import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { ownSlice } from '@holdfast/core/ports'

/**
 * Starts a process, alone in a slice: the system copies the tables of our memory for it, which takes 10 ms
 * at 400 MB, and an answer may ask for 64 programs. Resolves once it runs. Rejects with the system error if it cannot be
 * started.
 */
export async function spawnAlone<Child extends ChildProcess>(start: () => Child): Promise<Child> {
  await ownSlice()
  const child = start()
  await once(child, 'spawn')
  return child
}
