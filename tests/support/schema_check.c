/* SPDX-License-Identifier: Apache-2.0 */
/* schema_check SCHEMA FILE: does the JSON file follow the schema? Knows the words of JSON Schema
 * that our schemas use, and refuses a schema that has others. Says where the file goes wrong. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PATH_MAX_BYTES 512

static const char *const known[] = {"$schema",     "$defs", "$ref",       "title",
                                    "description", "type",  "properties", "additionalProperties",
                                    "required",    "items", "enum",       "minimum",
                                    "minItems",    "const"};

static bool wrong(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path[0] != '\0' ? path : "/", what);
    return false;
}

static bool check_words(json_t *schema, const char *path)
{
    const char *key;
    json_t *value;
    json_object_foreach(schema, key, value)
    {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            found = found || strcmp(key, known[i]) == 0;
        }
        if (!found) {
            fprintf(stderr, "the schema's word '%s' is not known here\n", key);
            return wrong(path, "not checked");
        }
    }
    return true;
}

static bool has_type(json_t *value, const char *type)
{
    return (strcmp(type, "object") == 0 && json_is_object(value)) ||
           (strcmp(type, "array") == 0 && json_is_array(value)) ||
           (strcmp(type, "string") == 0 && json_is_string(value)) ||
           (strcmp(type, "integer") == 0 && json_is_integer(value)) ||
           (strcmp(type, "number") == 0 && json_is_number(value)) ||
           (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
           (strcmp(type, "null") == 0 && json_is_null(value));
}

static bool check_type(json_t *types, json_t *value, const char *path)
{
    if (json_is_string(types)) {
        return has_type(value, json_string_value(types)) || wrong(path, "has another type");
    }
    size_t i;
    json_t *type;
    json_array_foreach(types, i, type)
    {
        if (has_type(value, json_string_value(type))) {
            return true;
        }
    }
    return wrong(path, "has none of the types allowed");
}

static bool check_value(json_t *schema, json_t *value, const char *path)
{
    json_t *minimum = json_object_get(schema, "minimum");
    if (minimum != NULL && json_is_number(value) &&
        json_number_value(value) < json_number_value(minimum)) {
        return wrong(path, "is less than the minimum");
    }
    json_t *one = json_object_get(schema, "const");
    if (one != NULL && !json_equal(one, value)) {
        return wrong(path, "is not the value that it must be");
    }
    json_t *all = json_object_get(schema, "enum");
    bool found = all == NULL;
    for (size_t i = 0; i < json_array_size(all); i++) {
        found = found || json_equal(json_array_get(all, i), value);
    }
    return found || wrong(path, "is none of the values allowed");
}

static bool check(json_t *root, json_t *schema, json_t *value, const char *path);

static bool check_object(json_t *root, json_t *schema, json_t *value, const char *path)
{
    bool good = true;
    json_t *properties = json_object_get(schema, "properties");
    json_t *others = json_object_get(schema, "additionalProperties");
    json_t *required = json_object_get(schema, "required");
    char below[PATH_MAX_BYTES];
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *key = json_string_value(json_array_get(required, i));
        snprintf(below, sizeof below, "%s/%s", path, key);
        good = (json_object_get(value, key) != NULL || wrong(below, "is missing")) && good;
    }
    const char *key;
    json_t *item;
    json_object_foreach(value, key, item)
    {
        json_t *rule = json_object_get(properties, key);
        snprintf(below, sizeof below, "%s/%s", path, key);
        rule = rule != NULL ? rule : others;
        if (json_is_false(rule)) {
            good = wrong(below, "is not in the schema");
        } else if (json_is_object(rule)) {
            good = check(root, rule, item, below) && good;
        }
    }
    return good;
}

static bool check(json_t *root, json_t *schema, json_t *value, const char *path)
{
    const char *ref = json_string_value(json_object_get(schema, "$ref"));
    if (ref != NULL) {
        json_t *definition =
            json_object_get(json_object_get(root, "$defs"), ref + strlen("#/$defs/"));
        return definition != NULL ? check(root, definition, value, path)
                                  : wrong(path, "the schema refers to nothing");
    }
    json_t *types = json_object_get(schema, "type");
    bool good = check_words(schema, path) && (types == NULL || check_type(types, value, path)) &&
                check_value(schema, value, path);
    if (json_is_object(value)) {
        return good && check_object(root, schema, value, path);
    }
    json_t *items = json_object_get(schema, "items");
    json_int_t least = json_integer_value(json_object_get(schema, "minItems"));
    if (json_is_array(value) && (json_int_t)json_array_size(value) < least) {
        good = wrong(path, "has too few items");
    }
    for (size_t i = 0; items != NULL && i < json_array_size(value); i++) {
        char below[PATH_MAX_BYTES];
        snprintf(below, sizeof below, "%s/%zu", path, i);
        good = check(root, items, json_array_get(value, i), below) && good;
    }
    return good;
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *both[2] = {NULL, NULL};
    if (argc != 3) {
        fprintf(stderr, "usage: schema_check SCHEMA FILE\n");
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        both[i] = json_load_file(argv[i + 1], JSON_REJECT_DUPLICATES, &error);
        if (both[i] == NULL) {
            fprintf(stderr, "%s:%d: %s\n", argv[i + 1], error.line, error.text);
            return 1;
        }
    }
    bool good = check(both[0], both[0], both[1], "");
    json_decref(both[0]);
    json_decref(both[1]);
    return good ? 0 : 1;
}
