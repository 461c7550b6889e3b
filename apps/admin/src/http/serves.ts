import {
  createParamDecorator,
  Get,
  HttpCode,
  Post,
  Put,
  Res,
  SetMetadata,
  type ExecutionContext,
} from '@nestjs/common';
import { OPERATIONS, type Operation, type OperationId } from '@reroll/shared/api/operations';
import type { Request, Response } from 'express';
import { readInput } from './read-input.ts';
import type { AnswerOf, Input } from './operation-types.ts';

/** The metadata key under which the guard finds a method's operation. */
export const OPERATION = Symbol('operation');

const METHODS = { get: Get, post: Post, put: Put } as const;

const TakesInput = createParamDecorator((id: OperationId, context: ExecutionContext) => {
  const http = context.switchToHttp();
  return readInput(id, http.getRequest<Request>(), http.getResponse<Response>());
});

/**
 * Binds a controller's method to an operation of the table: its method, path and status. The caller's rights are checked
 * first. Then the operation's schemas read parameters, query and body, which are the method's only argument.
 */
export function Serves<Id extends OperationId>(id: Id) {
  const operation: Operation = OPERATIONS[id];
  const path = operation.path.replaceAll(/\{(\w+)\}/gu, ':$1');
  return (
    target: object,
    key: string,
    descriptor: TypedPropertyDescriptor<(input: Input<Id>) => Promise<AnswerOf<Id>>>,
  ): void => {
    METHODS[operation.method](path)(target, key, descriptor);
    HttpCode(operation.status)(target, key, descriptor);
    SetMetadata(OPERATION, id)(target, key, descriptor);
    TakesInput(id)(target, key, 0);
    // A method that streams writes its response itself, without Nest.
    if (operation.answer === undefined) Res()(target, key, 1);
  };
}
