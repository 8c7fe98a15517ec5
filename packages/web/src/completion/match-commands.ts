import type { SlashCommand } from '@holdfast/protocol'

const begun = /^\/([\w.:-]*)$/
const shownMax = 12

/** Returns the commands that a text may become: those that begin with it, then those that contain it. None for other texts. */
export function matchCommands(commands: readonly SlashCommand[], text: string): readonly SlashCommand[] {
  const wanted = begun.exec(text)?.[1]?.toLowerCase()
  if (wanted === undefined) return []
  const fits = (name: string) => name.toLowerCase()
  const beginning = commands.filter(({ name }) => fits(name).startsWith(wanted))
  const containing = commands.filter(({ name }) => fits(name).indexOf(wanted) > 0)
  return [...beginning, ...containing].slice(0, shownMax)
}

/** Returns the text after a command was chosen: ready to be sent, or for its arguments to be typed. */
export const completedText = ({ name, arguments: named }: SlashCommand): string =>
  named === null ? `/${name}` : `/${name} `
