import type { Clock, Tool, Tools } from '@holdfast/core/ports'
import type { Environment } from '../system/home.ts'
import { maskedTool } from './define/masked-tool.ts'
import { editFileTool } from './files/edit-file.ts'
import { listDirectoryTool } from './files/list-directory.ts'
import { readFileTool } from './files/read-file.ts'
import { writeFileTool } from './files/write-file.ts'
import { createMemoryWrite, type WritableMemory } from './memory-write.ts'
import { endLeftover } from './shell/process-group.ts'
import { createShell } from './shell/shell.ts'

type ToolsDeps = {
  /** Inherited by commands, without credentials. */
  readonly environment: Environment
  /** Variables that hold a provider's key. */
  readonly keyNames?: readonly string[] | undefined
  readonly memory: WritableMemory
  readonly after?: Clock['after'] | undefined
}

/** Creates the built-in tools. */
export function createTools({ environment, keyNames, memory, after }: ToolsDeps): Tools {
  const all: readonly Tool[] = [
    readFileTool,
    listDirectoryTool,
    writeFileTool,
    editFileTool,
    createShell({ environment, keyNames, after }),
    createMemoryWrite(memory),
  ]
  const masked = all.map(maskedTool)
  const byName = new Map(masked.map((tool) => [tool.schema.name, tool]))
  return { all: masked, find: (name) => byName.get(name) ?? null, endLeftover }
}
