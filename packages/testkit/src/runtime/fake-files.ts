import type { WorkspaceFiles } from '@holdfast/core/ports'
import { fault, ok, refuse } from '@holdfast/protocol'

/** A workdir in which every file exists, except those called `missing`. */
export const fakeFiles: WorkspaceFiles = {
  locate: async (_, path) => ok(path),
  read: async (_, path) =>
    path === 'missing'
      ? refuse(fault('not_found', 'missing does not exist'))
      : ok({ path, bytes: Buffer.from(`The content of ${path}.${'\n'.repeat(10)}`), mode: 0o644 }),
  look: async () => ({ state: { type: 'absent' }, bytes: null }),
  locateBoundary: async (_, { start, end }) => ok({ start, end }),
  diff: async ({ path }) => `diff of ${path}\n`,
  keepForRestore: async () => ({ type: 'unchanged' }),
  restore: async () => ({ type: 'unchanged' }),
  previewRestore: async () => ({ type: 'unchanged' }),
  readLines: async (_, { path, start = 0 }) =>
    path === 'missing'
      ? refuse(fault('not_found', 'missing does not exist'))
      : ok({ path, start, lines: [`The content of ${path}.`].slice(start), total: 1, next: null }),
}
