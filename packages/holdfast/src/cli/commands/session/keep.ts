import type { Answer, CommandInput } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { giveCommand } from '../../sessions/submit-command.ts'
import type { Ended } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

export async function pin({ words, flags }: ArgsOf<'pin'>, place: CliContext): Promise<Ended> {
  const [name = ''] = words
  const said = flags.off ? 'It is pinned no longer.' : 'It is pinned: listed first, and kept from prune and rm --all.'
  return keep(name, { type: 'pinSession', pinned: !flags.off }, said, flags.json, place)
}

export async function rename({ words, flags }: ArgsOf<'rename'>, place: CliContext): Promise<Ended> {
  const [name = '', title = ''] = words
  const said =
    title.trim() === '' ? 'It goes by the first line of its first prompt.' : `It is called ${escapeLine(title.trim())}.`
  return keep(name, { type: 'rename', title }, said, flags.json, place)
}

async function keep(
  name: string,
  command: CommandInput,
  said: string,
  isJson: boolean,
  place: CliContext,
): Promise<Ended> {
  const say = async (answer: Answer) => {
    if (isJson) await place.out.write(`${toJsonText(answer)}\n`)
    else await place.err.write(`${said}\n`)
  }
  return giveCommand(name, command, say, place)
}
