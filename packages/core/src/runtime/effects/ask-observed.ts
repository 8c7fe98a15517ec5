import type { SessionId } from '@holdfast/protocol'
import type { RuntimeParts } from '../dependencies.ts'
import { askForText, type WrittenText } from './one-off-completion.ts'

type Asked = Parameters<typeof askForText>

/** Asks a model for a text where whoever looks on sees it. */
export function askObserved(
  { observer }: Pick<RuntimeParts, 'observer'>,
  session: SessionId,
  ...[provider, request, options]: Asked
): Promise<WrittenText> {
  const ask = () => askForText(provider, request, options)
  return observer?.asking?.(session, request.model, ask) ?? ask()
}
