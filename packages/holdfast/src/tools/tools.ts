import type { Tool, Tools } from '@holdfast/core/ports'
import type { Environment } from '../platform/environment.ts'
import { editFileTool } from './files/edit-file.ts'
import { listDirectoryTool } from './files/list-directory.ts'
import { readFileTool } from './files/read-file.ts'
import { writeFileTool } from './files/write-file.ts'
import { createMemoryWrite, type WritableMemory } from './memory/memory-write.ts'
import type { After } from './shell/after.ts'
import { endLeftover } from './shell/process-group.ts'
import { createShell } from './shell/shell.ts'

export type ToolParts = {
  /** What commands inherit, less anything that looks like a credential. */
  readonly environment: Environment
  readonly memory: WritableMemory
  readonly after?: After | undefined
}

/** The tools that come with Holdfast. */
export function createTools({ environment, memory, after }: ToolParts): Tools {
  const all: readonly Tool[] = [
    readFileTool,
    listDirectoryTool,
    writeFileTool,
    editFileTool,
    createShell({ environment, after }),
    createMemoryWrite(memory),
  ]
  const byName = new Map(all.map((tool) => [tool.schema.name, tool]))
  return { all, find: (name) => byName.get(name) ?? null, endLeftover }
}
