import type { NodeRow } from '@holdfast/core/ports'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { readJsonIfExists, replaceFile } from './replace-file.ts'

/** The registered nodes. Only one process can hold the directory, so there are few. */
export interface NodeFile {
  all(): readonly NodeRow[]
  put(node: NodeRow): Promise<void>
  remove(id: string): Promise<void>
}

export const readNodes = async (path: string): Promise<readonly NodeRow[]> =>
  ((await readJsonIfExists(path)) ?? []) as readonly NodeRow[] // written by us

export async function openNodeFile(path: string): Promise<NodeFile> {
  const nodes = new Map((await readNodes(path)).map((node) => [node.id, node]))
  const serialize = createSerialQueue()
  const all = () => [...nodes.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1))
  const write = () => serialize(() => replaceFile(path, `${JSON.stringify(all(), null, 2)}\n`))
  return {
    all,
    put(node) {
      nodes.set(node.id, { ...node })
      return write()
    },
    remove(id) {
      nodes.delete(id)
      return write()
    },
  }
}
