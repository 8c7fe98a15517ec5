import { basename, dirname } from 'node:path'
import type { Result } from '@holdfast/protocol'
import { findMarkdownFiles } from '../find-markdown-files.ts'
import { createParsedFiles, tooLong } from '../guidance-file.ts'
import type { GuidanceRoot } from '../guidance-roots.ts'
import type { AgentFile } from './parse-agent.ts'

/** A kind of agent as it is on disk. */
export type AgentOnDisk = {
  readonly scope: GuidanceRoot['scope']
  /** The file, without links. */
  readonly path: string
  /** What it says, or why it cannot be read. */
  readonly file: Result<AgentFile>
}

/** Finds the kinds of agents below folders, in the order of `findMarkdownFiles`. */
export function createAgentFinder() {
  const readFile = createParsedFiles(async ({ text, isCut }, path) => {
    const { parseAgent } = await import('./parse-agent.ts') // YAML is loaded for the first agent
    const parsed = parseAgent(basename(path, '.md'), text)
    return { ...parsed, problems: isCut ? [...parsed.problems, tooLong] : parsed.problems }
  })
  return async (roots: readonly GuidanceRoot[]): Promise<readonly AgentOnDisk[]> => {
    const agents: AgentOnDisk[] = []
    for (const { path, scope } of await findMarkdownFiles(roots))
      agents.push({ scope, path, file: await readFile(dirname(path), basename(path)) })
    return agents
  }
}
