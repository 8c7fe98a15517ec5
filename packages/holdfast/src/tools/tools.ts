import { join } from 'node:path'
import type { Agents, BackgroundWork, Clock, OwnPath, Skills, Tool, Tools } from '@holdfast/core/ports'
import type { Environment } from '../system/home.ts'
import { wallClock } from '../system/wall-clock.ts'
import { createSubagentTool } from './agents/subagent.ts'
import { maskedTool } from './define/masked-tool.ts'
import type { ReadRules } from './define/read-rules.ts'
import { createFetchUrl } from './fetch/fetch-url.ts'
import { applyDiffTool } from './files/apply-diff.ts'
import { deleteFileTool } from './files/delete-file.ts'
import { editFileTool } from './files/edit-file.ts'
import { withBoundaries } from './files/io/bounded-files.ts'
import { listDirectoryTool } from './files/list-directory.ts'
import { moveFileTool } from './files/move-file.ts'
import { multiEditFileTool } from './files/multi-edit-file.ts'
import { readFileTool } from './files/read-file.ts'
import { writeFileTool } from './files/write-file.ts'
import { createGitCommit } from './git/commit.ts'
import { createGitDiff } from './git/diff.ts'
import { createGitLog } from './git/log.ts'
import { createGitStage } from './git/stage.ts'
import { createGitStatus } from './git/status.ts'
import { createTouchedFiles } from './git/touched-by-command.ts'
import type { McpServers } from './mcp/mcp-servers.ts'
import { describeToolsTool } from './notes/describe-tools.ts'
import { createMemoryWrite, type WritableMemory } from './notes/memory-write.ts'
import { createSkillTool } from './notes/skill.ts'
import { todoReadTool, todoWriteTool } from './notes/todos.ts'
import { joinTools } from './own/own-tools.ts'
import { endLeftover } from './program/process-group.ts'
import { createProcessRecords } from './program/process-records.ts'
import { createPlaceholders, type Placeholders } from './sandbox/placeholders.ts'
import { createSandbox, type Sandbox, type SandboxSetting } from './sandbox/sandbox.ts'
import { createFind } from './search/find.ts'
import { createGrep } from './search/grep.ts'
import { createBackgroundShells } from './shell/background-shells.ts'
import { withBoundedFiles } from './shell/bounded-command.ts'
import { createCommandRecords } from './shell/command-records.ts'
import { type CommandRules, createConfinement } from './shell/confinement.ts'
import { createSessionTmp, type SessionTmp } from './shell/session-tmp.ts'
import { createShell } from './shell/shell.ts'
import { createShellOutput } from './shell/shell-output.ts'
import { createShellStop } from './shell/shell-stop.ts'

type ToolsDeps = {
  /** Inherited by commands, without credentials. */
  readonly environment: Environment
  /** Variables that hold a provider's key. */
  readonly keyNames?: readonly string[] | undefined
  readonly memory: WritableMemory
  /** Absent: there are no skills, and no tool for them. */
  readonly skills?: Skills | undefined
  /** Absent: there are no subagents. */
  readonly agents?: Agents | undefined
  /** A private directory for the output of commands and the record of those in the background. Absent: no record. */
  readonly shellDirectory?: string | undefined
  /** Variables that commands get too, by name. */
  readonly shellEnvironment?: readonly string[] | undefined
  /** Folders of Holdfast: its data, config and tokens. Tools neither search nor read them. */
  readonly ownPaths?: readonly OwnPath[] | undefined
  /** Hosts that `fetch_url` may read wherever they are, as `host` or `host:port`. */
  readonly fetchHosts?: readonly string[] | undefined
  /** Whether commands run in the sandbox; `off` by default. */
  readonly sandbox?: SandboxSetting | undefined
  /** Whether commands in the sandbox have the network unless a rule forbids it. */
  readonly sandboxNetwork?: boolean | undefined
  /** What the user's rules say about commands. */
  readonly commandRules?: CommandRules | undefined
  /** What the user's rules keep tools from reading. */
  readonly readRules?: ReadRules | undefined
  readonly after?: Clock['after'] | undefined
  /** The tools of the program that embeds Holdfast. */
  readonly own?: readonly Tool[] | undefined
  /** The servers whose tools are offered too. */
  readonly servers?: Pick<McpServers, 'tools'> | undefined
}

/** Creates the built-in tools and adds the program's own. Throws `bad_request` if two have the same name. */
export function createTools(deps: ToolsDeps): Tools & { readonly sandbox: Sandbox['state'] } {
  const { environment, keyNames, memory, skills, ownPaths = [], fetchHosts = [], after, own = [] } = deps
  const { shellDirectory, shellEnvironment } = deps
  const records = shellDirectory === undefined ? null : createProcessRecords(shellDirectory)
  const commands = shellDirectory === undefined ? null : createCommandRecords(join(shellDirectory, 'commands'))
  const background = createBackgroundShells({ records, commands, now: wallClock.now })
  const placeholders = createPlaceholders(shellDirectory && join(shellDirectory, 'placeholders'))
  const sandbox = createSandbox({ setting: deps.sandbox ?? 'off', environment, ownPaths, placeholders })
  const tmp = shellDirectory === undefined ? null : createSessionTmp(join(shellDirectory, 'tmp'))
  const { sandboxNetwork: network = false, commandRules, readRules } = deps
  const confinement = createConfinement({ sandbox, tmp, network, ...commandRules })
  const shellDeps = { environment, keyNames, passed: shellEnvironment, after, directory: shellDirectory }
  const gitDeps = { environment, keyNames, ownPaths }
  const builtIn: readonly Tool[] = [
    ...fileTools.map((tool) => withBoundaries(withOwnPaths(tool, ownPaths))),
    createFind({ environment, ownPaths, readRules }),
    createGrep({ environment, ownPaths, readRules }),
    createFetchUrl({ allowedHosts: fetchHosts }),
    createGitStatus({ environment, keyNames }),
    createGitDiff({ environment, keyNames, readRules }),
    createGitLog({ environment, keyNames }),
    createGitStage({ environment, keyNames, readRules }),
    withBoundedFiles(createGitCommit({ environment, keyNames, records, sandbox: sandbox.state })),
    createShell({ ...shellDeps, background, confinement, touched: createTouchedFiles(gitDeps) }),
    createShellOutput({ background, after }),
    createShellStop(background),
    createMemoryWrite(memory),
    todoWriteTool,
    todoReadTool,
    ...(skills ? [createSkillTool(skills)] : []),
    ...(deps.agents ? [createSubagentTool(deps.agents)] : []),
    describeToolsTool,
  ]
  const all = joinTools(builtIn, own.map(withBoundedFiles)).map(maskedTool)
  const byName = new Map(all.map((tool) => [tool.schema.name, tool]))
  return {
    all,
    endLeftover,
    background: withTmp(background, tmp, placeholders),
    sandbox: (workdir: string) => sandbox.state(workdir),
    find: (name) => byName.get(name) ?? null,
    whenDescribed: async (workdir) => void (await sandbox.state(workdir)),
    ofFolder: async (workdir, needed) =>
      deps.servers ? (await deps.servers.tools(workdir, needed)).map(guardedServerTool) : [],
  }
}

const guarded = new WeakMap<Tool, Tool>()

/** Lets a tool of a server run as our own do. The same tool gives the same one: each step asks for all of them. */
function guardedServerTool(tool: Tool): Tool {
  const known = guarded.get(tool) ?? maskedTool(withBoundedFiles(tool))
  guarded.set(tool, known)
  return known
}

/** Removes the temporary directories of sessions when their commands end, and what dead processes left. */
const withTmp = (background: BackgroundWork, tmp: SessionTmp | null, placeholders: Placeholders): BackgroundWork => ({
  ...background,
  async end(session) {
    await background.end(session)
    await tmp?.remove(session)
  },
  async endLeftovers() {
    await background.endLeftovers()
    await tmp?.removeLeftovers()
    await placeholders.removeLeftovers()
  },
})

const fileTools: readonly Tool[] = [
  readFileTool,
  listDirectoryTool,
  writeFileTool,
  editFileTool,
  multiEditFileTool,
  applyDiffTool,
  deleteFileTool,
  moveFileTool,
]

/** Tells a tool which folders belong to Holdfast. */
const withOwnPaths = (tool: Tool, ownPaths: readonly OwnPath[]): Tool => ({
  ...tool,
  prepare: (args, context, signal) => tool.prepare(args, { ...context, ownPaths }, signal),
  run: (args, context, run) => tool.run(args, { ...context, ownPaths }, run),
})
