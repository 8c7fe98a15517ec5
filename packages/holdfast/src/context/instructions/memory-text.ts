/** What the instructions need of memory. */
export interface ReadableMemory {
  read(workdir: string): Promise<{ readonly user: Remembered | null; readonly workspace: Remembered | null }>
}

type Remembered = {
  readonly text: string
  /** How much stands before the text in the file: it was too long to be told whole. */
  readonly leftOutBytes: number
  readonly path: string
}

/** What is kept from earlier sessions, each file under its own heading. */
export function memoryText({ user, workspace }: Awaited<ReturnType<ReadableMemory['read']>>): string {
  const sections = [section('Memory of the user', user), section('Memory of the workspace', workspace)]
  return sections.filter((text) => text !== '').join('\n\n')
}

function section(heading: string, remembered: Remembered | null): string {
  if (remembered === null) return ''
  const { text, leftOutBytes, path } = remembered
  const note = leftOutBytes > 0 ? `[the first ${leftOutBytes} bytes are left out; they are in ${path}]\n` : ''
  return `# ${heading}\n\nNotes from earlier sessions, the newest last. They may be out of date.\n\n${note}${text}`
}
