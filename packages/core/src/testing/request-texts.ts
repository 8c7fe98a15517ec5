import type { TestRuntime } from '@holdfast/testkit'
import type { ModelRequest } from '../ports/provider.ts'

/** Returns the texts of a model request; a part without text is named by its type. */
export const textsOf = (request: ModelRequest | undefined): readonly string[] =>
  request?.messages.flatMap(({ content }) => content.map((part) => ('text' in part ? part.text : part.type))) ?? []

/** Returns the texts of the last model request. */
export const lastTexts = ({ model }: Pick<TestRuntime, 'model'>): readonly string[] => textsOf(model.requests.at(-1))
