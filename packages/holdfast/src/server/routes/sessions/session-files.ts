import {
  collectTouched,
  FileChangePage,
  FileDiffs,
  FileLines,
  InstructionFile,
  ListedBoundary,
  limits,
  ok,
  RestorePreview,
  type Result,
  Seq,
  TouchedFile,
} from '@holdfast/protocol'
import { z } from 'zod'
import { defineRead } from '../../define/define-read.ts'
import { flag, pageLimit, type Route, wholeNumber } from '../../define/route.ts'
import { sessionPathRoutes } from './paths.ts'

const getFileChanges = defineRead(
  '/file-changes',
  'Get a page of what calls did to files, newest first',
  FileChangePage,
  (handle, { input }) => handle.fileChanges(input.query),
  z.strictObject({ before: wholeNumber.pipe(Seq).optional(), limit: pageLimit(limits.pageRecordsMax) }),
)

const getTouchedFiles = defineRead(
  '/touched-files',
  'List the files that the session changed, each once with its newest change',
  z.object({ files: z.array(TouchedFile), isCut: z.literal(true).optional() }),
  async (handle) => {
    const touched = collectTouched()
    for (let before: Seq | null | undefined; before !== null; ) {
      const page: Result<FileChangePage> = await handle.fileChanges({ before })
      if (!page.ok) return page
      before = touched.add(page.value)
    }
    const { files, isCut } = touched.list()
    return ok({ files: [...files], ...(isCut && { isCut }) })
  },
)

/** The codes of a route that names a file of the working directory. */
const ofWorkdir = ['not_found', 'bad_workdir', 'outside_workdir', 'workdir_needed'] as const

const getDiff = defineRead(
  '/diff',
  'Show the changes of files as one diff a file: of a turn, of a call, or all until now',
  FileDiffs,
  // Who may only view does not see the files on the disk of the server, also not those that the session once changed.
  (handle, { input, caller }) =>
    handle.diffChanges(caller?.role === 'viewer' ? { ...input.query, recorded: true } : input.query),
  z.strictObject({
    turn: wholeNumber.optional(),
    call: wholeNumber.optional(),
    path: z.string().optional(),
    recorded: flag,
  }),
  [...ofWorkdir, 'message_not_found', 'turn_not_found'],
)

/** A list of texts as JSON, because a path may contain any separator. */
const jsonList = z
  .string()
  .max(limits.toolPathCharsMax)
  .transform((text, { addIssue }) => {
    try {
      return JSON.parse(text) as unknown // checked by the next schema
    } catch {
      addIssue({ code: 'custom', message: 'a list as JSON' })
      return z.NEVER
    }
  })
  .pipe(z.array(z.string()))

const getRestorePreview = defineRead(
  '/restore-preview',
  'Show what restoreFiles would do now, with diffs; changes nothing',
  RestorePreview,
  (handle, { input }) => handle.previewRestore(input.query),
  z.strictObject({
    turn: wholeNumber.optional(),
    message: wholeNumber.optional(),
    call: wholeNumber.optional(),
    undo: z
      .literal('true')
      .transform(() => true as const)
      .optional(),
    paths: jsonList.optional(),
  }),
  [...ofWorkdir, 'message_not_found', 'turn_not_found', 'nothing_to_undo'],
)

const getFile = defineRead(
  '/file',
  'Get lines of a text file of the working directory, counted from 0',
  FileLines,
  async (handle, { input, caller }, { fileAccess }) => {
    if (caller?.role === 'admin') return handle.readFile(input.query)
    const denied = await fileAccess.check(handle, input.query.path)
    if (!denied.ok) return denied
    const read = await handle.readFile(input.query)
    // Where the links led when it was opened: they may have changed since.
    const deniedNow = read.ok ? await fileAccess.check(handle, read.value.path) : read
    return deniedNow.ok ? read : deniedNow
  },
  z.strictObject({
    path: z.string().min(1).max(limits.toolPathCharsMax),
    start: wholeNumber.pipe(z.int().min(0)).optional(),
    limit: pageLimit(limits.readFileLinesMax),
  }),
  [...ofWorkdir, 'wrong_media_type', 'not_driver'],
)

const getInstructions = defineRead(
  '/instructions',
  'List the files of instructions that the model is told, such as AGENTS.md; later ones count more',
  z.object({ files: z.array(InstructionFile) }),
  async (handle) => {
    const files = await handle.instructionFiles()
    return files.ok ? ok({ files: files.value }) : files
  },
)

const getBoundaries = defineRead(
  '/boundaries',
  'List the edit boundaries, with the lines that they have in their files now',
  z.object({ boundaries: z.array(ListedBoundary) }),
  async (handle) => {
    const boundaries = await handle.boundaries()
    return boundaries.ok ? ok({ boundaries: [...boundaries.value] }) : boundaries
  },
)

/** The routes about the files that a session works on. */
export const sessionFileRoutes: readonly Route[] = [
  ...[
    getFileChanges,
    getTouchedFiles,
    getDiff,
    getRestorePreview,
    getFile,
    ...sessionPathRoutes,
    getInstructions,
    getBoundaries,
  ],
]
